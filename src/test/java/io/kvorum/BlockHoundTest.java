package io.kvorum;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;
import reactor.test.StepVerifier;

/** That the other tests would notice a call that blocks where none may. */
class BlockHoundTest {

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	@Test
	void aSleepOnAParallelThreadIsAnError() {
		StepVerifier.create(Mono.fromCallable(BlockHoundTest::sleep).subscribeOn(Schedulers.parallel()))
			.expectError(BlockingOperationError.class)
			.verify(PATIENCE);
	}

	@Test
	void aSleepOnAnEventLoopIsAnError() {
		LoopResources loops = LoopResources.create("planted", 1, true);
		try {
			Scheduler eventLoop = Schedulers.fromExecutor(loops.onServer(true));
			StepVerifier.create(Mono.fromCallable(BlockHoundTest::sleep).subscribeOn(eventLoop))
				.expectError(BlockingOperationError.class)
				.verify(PATIENCE);
		}
		finally {
			loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
		}
	}

	@Test
	void aSleepOnAThreadThatMayWaitIsNone() {
		StepVerifier.create(Mono.fromCallable(BlockHoundTest::sleep).subscribeOn(Schedulers.boundedElastic()))
			.expectNext("slept")
			.expectComplete()
			.verify(PATIENCE);
	}

	private static String sleep() throws InterruptedException {
		// What BlockHound has to find: it waits for nothing.
		Thread.sleep(1);
		return "slept";
	}

}
