package io.kvorum.storage;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Failure of a storage operation. Every kind answers the two questions of a caller:
 * {@link #mayHaveBeenStored()} and {@link #mayRetry()}.
 * <p>
 * Has no stack trace: expected failures are thrown by the thousand.
 */
public abstract sealed class StorageException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private StorageException(String message, @Nullable Throwable cause) {
		super(message, cause, false, false);
	}

	/** Whether the write may have happened, or may yet happen. */
	public boolean mayHaveBeenStored() {
		return false;
	}

	/** Whether the operation may succeed if tried again on this node. */
	public boolean mayRetry() {
		return true;
	}

	/** A queue is full, or the write has waited too long in it: nothing was done. */
	public static final class Overloaded extends StorageException {

		private static final long serialVersionUID = 1L;

		public Overloaded(String limit, Object value) {
			this("%s of %s is reached".formatted(limit, value));
		}

		private Overloaded(String message) {
			super(message, null);
		}

		/** A write whose caller waits no longer. */
		public static Overloaded tooLate() {
			return new Overloaded("the time of the operation was over before its turn came");
		}

	}

	/** The store is not open, or closing, or has failed before: nothing was done. */
	public static final class Unavailable extends StorageException {

		private static final long serialVersionUID = 1L;

		public Unavailable(String why) {
			super(why, null);
		}

	}

	/**
	 * The disk is full, or nearly. Reads go on; writes resume by themselves when there is
	 * space.
	 */
	public static final class NoSpace extends StorageException {

		private static final long serialVersionUID = 1L;

		private final boolean tried;

		private NoSpace(String message, boolean tried, @Nullable Throwable cause) {
			super(message, cause);
			this.tried = tried;
		}

		/** A write refused before anything was written. */
		public static NoSpace refused(long freeBytes, long minFreeBytes) {
			return new NoSpace("%d bytes are free on the disk, writes need kvorum.storage.min-free-space of %d"
				.formatted(freeBytes, minFreeBytes), false, null);
		}

		/** A write refused because a probe found the disk still full. */
		public static NoSpace refused(Throwable cause) {
			return new NoSpace("the disk is full", false, cause);
		}

		/** The disk filled up during the write. */
		public static NoSpace met(Throwable cause) {
			return new NoSpace("the disk is full", true, cause);
		}

		@Override
		public boolean mayHaveBeenStored() {
			return this.tried;
		}

	}

	/** The stored entry cannot be read: it is damaged, or the disk fails. */
	public static final class Unreadable extends StorageException {

		private static final long serialVersionUID = 1L;

		public Unreadable(Throwable cause) {
			super("the entry cannot be read: " + cause.getMessage(), cause);
		}

		@Override
		public boolean mayRetry() {
			return false;
		}

	}

	/** The read has not been answered in time, by the disk or by the queue before it. */
	public static final class ReadTimedOut extends StorageException {

		private static final long serialVersionUID = 1L;

		/**
		 * @param limit the time that the read had; zero or less if its deadline had
		 * passed
		 */
		public ReadTimedOut(Duration limit) {
			super(limit.isPositive() ? "the disk has not answered within %s".formatted(limit)
					: "the time of the read was over before the disk was asked", null);
		}

	}

	/** The disk has not taken a write in time, but may yet. */
	public static final class WriteTimedOut extends StorageException {

		private static final long serialVersionUID = 1L;

		public WriteTimedOut(Duration limit) {
			super("the disk has not taken the write within %s".formatted(limit), null);
		}

		@Override
		public boolean mayHaveBeenStored() {
			return true;
		}

	}

	/**
	 * The disk failed a write, which may still be found later. The store takes no more
	 * writes; the node has to be restarted.
	 */
	public static final class WriteFailed extends StorageException {

		private static final long serialVersionUID = 1L;

		public WriteFailed(Throwable cause) {
			super("the disk did not take the write: " + cause.getMessage(), cause);
		}

		@Override
		public boolean mayHaveBeenStored() {
			return true;
		}

	}

}
