package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import io.kvorum.storage.StorageException.NoSpace;
import org.jspecify.annotations.Nullable;

/**
 * The check for free disk space, done at most once in {@value #LOOK_MILLIS} ms. Used by
 * the committer's thread; {@link #lastRefusal()} by any thread.
 */
final class FreeSpace {

	private static final long LOOK_MILLIS = 500;

	private final Path path;

	private final long minFreeBytes;

	private final TimeSource time;

	private long lookedNanos;

	private volatile @Nullable NoSpace refusal;

	FreeSpace(Path path, long minFreeBytes, TimeSource time) {
		this.path = path;
		this.minFreeBytes = minFreeBytes;
		this.time = time;
		this.lookedNanos = time.nanos() - TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS);
	}

	/** The reason for refusing writes now; null if there is space. */
	@Nullable NoSpace refusal() {
		long now = this.time.nanos();
		if (now - this.lookedNanos >= TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS)) {
			this.lookedNanos = now;
			long free = this.path.toFile().getUsableSpace();
			this.refusal = (free < this.minFreeBytes) ? NoSpace.refused(free, this.minFreeBytes) : null;
		}
		return this.refusal;
	}

	/** What {@link #refusal()} said last. From any thread. */
	@Nullable NoSpace lastRefusal() {
		return this.refusal;
	}

}
