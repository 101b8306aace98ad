package io.kvorum.convergence.hints;

import io.kvorum.cluster.Member;

/** Receives the events of hints, for meters. Called by any thread. */
public interface HintEvents {

	/** Ignores all events. */
	HintEvents NONE = new HintEvents() {
	};

	/** A hint was kept. */
	default void kept(Member target) {
	}

	/** Hints were not kept, or were given up: their slices are repaired instead. */
	default void dropped(Member target, Cause cause, long hints) {
	}

	/** A hint was handed over. */
	default void replayed(Member target, long bytes) {
	}

	/** Why a hint was dropped. */
	enum Cause {

		/** The node has been away for too long, or the hint waited for too long. */
		WINDOW,

		/** The hints for the node have reached their limit in bytes. */
		SIZE,

		/** Stores fail faster than hints can be written, or the disk refuses hints. */
		OVERLOAD,

		/** The hints for the node cannot be read. */
		UNREADABLE,

		/** The disk of this node is a stale one. */
		STALE_DISK

	}

}
