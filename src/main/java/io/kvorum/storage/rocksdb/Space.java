package io.kvorum.storage.rocksdb;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import io.kvorum.clock.TimeSource;
import io.kvorum.storage.StorageException.NoSpace;
import org.jspecify.annotations.Nullable;

/**
 * Whether the disk has space for writes, checked at most once in {@value #LOOK_MILLIS}
 * ms. Used by the committer's thread, {@link #isLow()} by any.
 */
final class Space {

	private static final long LOOK_MILLIS = 500;

	private final Path path;

	private final long minFreeBytes;

	private final TimeSource time;

	private long lookedNanos;

	private volatile @Nullable NoSpace refusal;

	Space(Path path, long minFreeBytes, TimeSource time) {
		this.path = path;
		this.minFreeBytes = minFreeBytes;
		this.time = time;
		this.lookedNanos = time.nanos() - TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS);
	}

	/** Why writes are to be refused now; null if they are not. */
	@Nullable NoSpace refusal() {
		long now = this.time.nanos();
		if (now - this.lookedNanos >= TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS)) {
			this.lookedNanos = now;
			long free = this.path.toFile().getUsableSpace();
			this.refusal = (free < this.minFreeBytes) ? NoSpace.refused(free, this.minFreeBytes) : null;
		}
		return this.refusal;
	}

	boolean isLow() {
		return this.refusal != null;
	}

}
