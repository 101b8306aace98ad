package io.kvorum.convergence.hints;

import io.kvorum.cluster.Member;

/** What happens to hints, for those who count. Called by any thread. */
public interface HintEvents {

	/** Where nobody counts. */
	HintEvents NONE = new HintEvents() {
	};

	/** A hint was kept. */
	default void kept(Member target) {
	}

	/** A hint was not kept, or given up: its slice is repaired instead. */
	default void dropped(Member target, Cause cause) {
	}

	/** A hint was handed over. */
	default void replayed(Member target, long bytes) {
	}

	/** Why there is no hint. */
	enum Cause {

		/** The node has been away for too long, or the hint waited for too long. */
		WINDOW,

		/** Too much waits for the node. */
		SIZE,

		/** More stores fail than hints can be written, or the disk does not take them. */
		OVERLOAD

	}

}
