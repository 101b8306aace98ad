package io.kvorum.app;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.kvorum.access.AccessControl;
import io.kvorum.access.AccessEvents;
import io.kvorum.access.KeyRing;
import io.kvorum.access.KeysFile;
import io.kvorum.access.KeysFileException;
import io.kvorum.clock.TimeSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Polls the content of the API keys file. File events do not suffice: a mounted secret
 * changes by a link to another directory.
 * <p>
 * Runs on a thread of its own, since a read from a disk or a network may hang.
 */
final class KeysWatch implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(KeysWatch.class);

	/** The time after which a look at the file counts as one that hangs. */
	private static final Duration HANGS_AFTER = Duration.ofSeconds(30);

	/** Null if there is nothing to watch. */
	private final @Nullable Path path;

	private final Duration interval;

	private final AccessControl control;

	private final TimeSource time;

	private final AccessEvents events;

	/** The content that was read last, usable or not. */
	private byte[] seen;

	/** Why the content cannot be read or used; null if it is in use. */
	private volatile @Nullable String trouble;

	/** When the look that is under way began; null between two looks. */
	private volatile @Nullable Long lookingSince;

	private @Nullable ScheduledExecutorService threads;

	/**
	 * @param seen the content that the keys in use are from
	 */
	KeysWatch(@Nullable Path path, byte[] seen, Duration interval, AccessControl control, TimeSource time,
			AccessEvents events) {
		this.path = path;
		this.seen = seen;
		this.interval = interval;
		this.control = control;
		this.time = time;
		this.events = events;
	}

	@Override
	public void start() {
		Path watched = this.path;
		if (watched == null) {
			return;
		}
		ScheduledExecutorService started = Executors.newScheduledThreadPool(2,
				Thread.ofPlatform().name("kvorum-access-", 1).daemon().factory());
		this.threads = started;
		long interval = this.interval.toNanos();
		var _ = started.scheduleWithFixedDelay(() -> look(watched), interval, interval, TimeUnit.NANOSECONDS);
		var _ = started.scheduleWithFixedDelay(this::noticeHang, interval, interval, TimeUnit.NANOSECONDS);
	}

	@Override
	public void stop() {
		ScheduledExecutorService running = this.threads;
		if (running != null) {
			running.shutdownNow();
			this.threads = null;
		}
	}

	@Override
	public boolean isRunning() {
		return this.threads != null;
	}

	/**
	 * Reads the file once. Catches all that can be thrown, after which the executor would
	 * not run it again.
	 */
	void look(Path file) {
		try {
			this.lookingSince = this.time.nanos();
			byte[] content = KeysFiles.read(file);
			if (this.trouble != null || !Arrays.equals(content, this.seen)) {
				this.seen = content;
				use(KeysFile.read(content, this.time.nanos()));
			}
		}
		catch (KeysFileException ex) {
			keep(String.valueOf(ex.getMessage()), null);
		}
		catch (RuntimeException | Error ex) {
			keep("an unexpected error: " + ex.getClass().getName(), ex);
		}
		finally {
			this.lookingSince = null;
		}
	}

	/** Keeps the previous keys if the file system does not answer. */
	void noticeHang() {
		Long since = this.lookingSince;
		if (since != null && this.time.nanos() - since > HANGS_AFTER.toNanos()) {
			keep("reading it has taken for more than %d s: does its file system hang?"
				.formatted(HANGS_AFTER.toSeconds()), null);
		}
	}

	private synchronized void use(KeyRing ring) {
		this.control.use(ring);
		this.events.reloaded(true);
		this.trouble = null;
		logger.info("The API keys were read from {}; keys in use: {}", this.path, this.control.state().keys());
	}

	/**
	 * Keeps the previous keys. Logs a problem once, until another one follows.
	 * @param unexpected logged with its stack trace; null if the trace says nothing
	 */
	private synchronized void keep(String why, @Nullable Throwable unexpected) {
		if (why.equals(this.trouble)) {
			return;
		}
		this.trouble = why;
		this.control.keep(why);
		this.events.reloaded(false);
		logger.warn("The API keys file {} cannot be used; the previous {} keys stay in force:\n    {}", this.path,
				this.control.state().keys(), why, unexpected);
	}

}
