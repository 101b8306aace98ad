package io.kvorum.test;

import java.time.Duration;

/**
 * The end of a wait.
 *
 * @param within what it was when the wait began, for messages
 * @param nanos by {@link System#nanoTime()}
 */
record Deadline(Duration within, long nanos) {

	static Deadline after(Duration within) {
		return new Deadline(within, System.nanoTime() + within.toNanos());
	}

	boolean isOver() {
		return System.nanoTime() - this.nanos > 0;
	}

}
