package io.kvorum.gatling;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts wrong answers, in the whole run. A busy node may refuse ({@code max-failed}
 * allows for it), but none may ever answer with what is not so.
 */
final class Answers {

	private static final AtomicLong wrong = new AtomicLong();

	private Answers() {
	}

	/** Passes the expected status. Another one is wrong, unless the node failed. */
	static Integer status(int expected, int found) {
		if (found == expected) {
			return found;
		}
		if (found < 500 && found != 429) {
			throw wrong("found " + found);
		}
		throw new IllegalStateException("found " + found);
	}

	/** Counts a wrong answer. */
	static IllegalStateException wrong(String why) {
		wrong.incrementAndGet();
		return new IllegalStateException(why);
	}

	/**
	 * Ends the run as failed if there were any.
	 * @throws CannotRunException saying how many
	 */
	static void requireNoneWrong() {
		if (wrong.get() > 0) {
			throw new CannotRunException(
					"%d answers were wrong, see \"Errors\": load.max-failed allows for failed requests, not for them"
						.formatted(wrong.get()));
		}
	}

}
