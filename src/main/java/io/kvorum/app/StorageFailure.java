package io.kvorum.app;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationContext;

/**
 * Ends the process after the store has failed. First readiness fails, so that new
 * requests go elsewhere. Then the process ends with exit code {@value #EXIT_CODE}. The
 * supervisor of the node starts it again, and opening the store checks the disk.
 */
final class StorageFailure {

	/** Exit code EX_IOERR of sysexits.h. */
	static final int EXIT_CODE = 74;

	private static final Duration EXIT_TIMEOUT = Duration.ofSeconds(15);

	private static final Logger logger = LoggerFactory.getLogger(StorageFailure.class);

	private final ApplicationContext context;

	private final AtomicBoolean exiting = new AtomicBoolean();

	StorageFailure(ApplicationContext context) {
		this.context = context;
	}

	/** Ends the process. Called by any thread; returns at once. */
	void exit(Throwable cause) {
		if (this.exiting.compareAndSet(false, true)) {
			logger.error("The store has failed and takes no more writes: {}. The process ends with exit code {}; "
					+ "start it again when the disk is in order.", cause.getMessage(), EXIT_CODE);
			AvailabilityChangeEvent.publish(this.context, ReadinessState.REFUSING_TRAFFIC);
			Thread exit = Thread.ofPlatform()
				.name("kvorum-exit")
				// Otherwise closing the context would end the JVM before the exit code is
				// set.
				.daemon(false)
				.start(() -> System.exit(SpringApplication.exit(this.context, () -> EXIT_CODE)));
			Thread.ofPlatform().name("kvorum-halt").daemon().start(() -> haltUnlessEnded(exit));
		}
	}

	/**
	 * Halts the JVM after {@link #EXIT_TIMEOUT}: a failing disk may block an orderly end
	 * forever.
	 */
	private static void haltUnlessEnded(Thread exit) {
		try {
			exit.join(EXIT_TIMEOUT);
			Runtime.getRuntime().halt(EXIT_CODE);
		}
		catch (InterruptedException _) {
			Thread.currentThread().interrupt();
		}
	}

}
