package io.kvorum.api;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs where the time of slow requests went, at most one a second: the steps of the
 * operation and each call of a replica, but no key and no value.
 */
final class SlowRequests {

	private static final Logger logger = LoggerFactory.getLogger(SlowRequests.class);

	private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final long fromNanos;

	private final Reminder reminder;

	/**
	 * A log of slow requests.
	 * @param from the time from which on a request is slow; null logs none
	 */
	SlowRequests(@Nullable Duration from, long nowNanos) {
		this.fromNanos = (from != null) ? from.toNanos() : Long.MAX_VALUE;
		this.reminder = new Reminder(INTERVAL_NANOS, nowNanos);
	}

	/** Whether requests have to be timed. */
	boolean areLogged() {
		return this.fromNanos != Long.MAX_VALUE;
	}

	/**
	 * A request is over.
	 * @param status the HTTP status; 0 if the client went away before the answer
	 */
	void ended(String method, String route, int status, ServerTiming timing, long nowNanos) {
		long nanos = nowNanos - timing.startedNanos();
		if (nanos < this.fromNanos) {
			return;
		}
		long slow = this.reminder.add(nowNanos);
		if (slow > 0) {
			logger.atWarn()
				.addKeyValue("method", method)
				.addKeyValue("route", route)
				.addKeyValue("status", status)
				.addKeyValue("milliseconds", TimeUnit.NANOSECONDS.toMillis(nanos))
				.log("Slow: {} {} {}: {}{}", method, route,
						(status != 0) ? "was answered with " + status : "was left by its client", timing.header(),
						(slow > 1) ? "; %d slow requests since the last such line".formatted(slow) : "");
		}
	}

}
