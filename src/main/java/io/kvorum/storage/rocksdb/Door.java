package io.kvorum.storage.rocksdb;

import io.kvorum.storage.StorageException.Unavailable;
import org.jspecify.annotations.Nullable;

/** The way into a store, which is shut while that is not open; see {@link Gate}. */
final class Door {

	private final Gate gate = new Gate();

	private volatile @Nullable Opened inside;

	/** Lets writes in, which wait for their committer. */
	void prepare(Opened opened) {
		this.inside = opened;
	}

	/** Lets reads in too. */
	void open() {
		this.gate.open();
	}

	/** Whether the caller may read; it must {@link #leave()} if so. */
	boolean enter() {
		return this.gate.enter();
	}

	void leave() {
		this.gate.leave();
	}

	/** Keeps newcomers out; those inside go on. */
	void shut() {
		this.inside = null;
	}

	/** Returns when no caller is inside and none can enter. */
	void close() {
		this.gate.close();
	}

	/** Null while the store is not open. */
	@Nullable Opened openedOrNull() {
		return this.inside;
	}

	Opened opened() {
		Opened now = this.inside;
		if (now == null) {
			throw notOpen();
		}
		return now;
	}

	static Unavailable notOpen() {
		return new Unavailable("the store is not open");
	}

}
