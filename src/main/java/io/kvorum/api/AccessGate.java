package io.kvorum.api;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.access.AccessControl;
import io.kvorum.access.AccessEvents;
import io.kvorum.access.ApiKey;
import io.kvorum.access.Denial;
import io.kvorum.access.DeniedException;
import io.kvorum.access.TokenBucket;
import io.kvorum.clock.TimeSource;
import io.kvorum.wire.HttpExchange;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.util.AsciiString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Access as HTTP has it: who asks is in a header, and who is not let in is told by a
 * problem. Lies in the handlers, so that it is on each way to them.
 */
final class AccessGate {

	private static final Logger logger = LoggerFactory.getLogger(AccessGate.class);

	/** The log is told of denials of one kind this often at most, and how many. */
	private static final long REMINDER_NANOS = TimeUnit.MINUTES.toNanos(1);

	private static final long NANOS_OF_A_SECOND = TimeUnit.SECONDS.toNanos(1);

	/** Of draft-ietf-httpapi-ratelimit-headers. */
	private static final AsciiString RATE_LIMIT = AsciiString.cached("RateLimit");

	private static final AsciiString RATE_LIMIT_POLICY = AsciiString.cached("RateLimit-Policy");

	private static final AsciiString CHALLENGE = AsciiString.cached("Bearer realm=\"kvorum\"");

	private final AccessControl control;

	private final ProblemWriter problems;

	private final TimeSource time;

	private final AccessEvents events;

	private final Map<Denial, Reminder> reminders = new EnumMap<>(Denial.class);

	AccessGate(AccessControl control, ProblemWriter problems, TimeSource time, AccessEvents events) {
		this.control = control;
		this.problems = problems;
		this.time = time;
		this.events = events;
		for (Denial denial : Denial.values()) {
			this.reminders.put(denial, new Reminder(time.nanos() - REMINDER_NANOS));
		}
	}

	/** Whether it is asked who comes. */
	boolean isClosed() {
		return this.control.isControlled();
	}

	/**
	 * Who asks. The answer will say what is left of their rate.
	 * @throws DeniedException if nobody who may
	 */
	ApiKey admit(HttpExchange exchange) {
		if (!this.control.isControlled()) {
			return ApiKey.anyone();
		}
		ApiKey caller = this.control.admit(exchange.headers(HttpHeaderNames.AUTHORIZATION));
		TokenBucket bucket = caller.bucket();
		if (bucket != null) {
			long now = this.time.nanos();
			tellRate(exchange, bucket, bucket.remaining(now), bucket.secondsUntilFull(now));
		}
		return caller;
	}

	/**
	 * Who was let in before, by the keys of now; for what goes on for long.
	 * @throws DeniedException if their key is no longer good
	 */
	ApiKey readmit(ApiKey caller) {
		return this.control.readmit(caller);
	}

	private static void tellRate(HttpExchange exchange, TokenBucket bucket, long remaining, long seconds) {
		exchange.set(RATE_LIMIT_POLICY, "\"key\";q=" + bucket.rate().burst() + ";w=" + bucket.windowSeconds());
		exchange.set(RATE_LIMIT, "\"key\";r=" + remaining + ";t=" + seconds);
	}

	/** Tells somebody that they are not let in, and those who watch. */
	Mono<Void> refuse(HttpExchange exchange, DeniedException denied) {
		this.events.denied(denied.denial());
		tellLog(exchange, denied.denial());
		TokenBucket emptied = denied.emptied();
		if (emptied != null) {
			tellRate(exchange, emptied, 0, Math.ceilDiv(denied.waitNanos(), NANOS_OF_A_SECOND));
		}
		if (denied.denial().isOfStrangers()) {
			exchange.set(HttpHeaderNames.WWW_AUTHENTICATE, CHALLENGE);
		}
		return this.problems.write(exchange, Problem.of(denied));
	}

	/** Nothing of what a client has sent: neither ids nor keys nor headers. */
	private void tellLog(HttpExchange exchange, Denial denial) {
		Reminder reminder = this.reminders.get(denial);
		long count = (reminder != null) ? reminder.add(this.time.nanos()) : 0;
		if (count > 0) {
			logger.warn("Not let in, {}: {} requests since this was told last, the last one from {}", describe(denial),
					count, exchange.remote());
		}
	}

	private static String describe(Denial denial) {
		return switch (denial) {
			case MISSING -> "without an API key";
			case MALFORMED -> "with what has not the form of an API key";
			case WRONG -> "with an API key that is not in the file";
			case EXPIRED -> "with an API key that has expired";
			case ENTITY -> "an entity that the API key has no right to";
			case RANGE -> "a range that the API key has no right to";
			case ENDPOINT -> "a management endpoint that the API key has no right to";
			case RATE -> "faster than the rate of the API key";
		};
	}

	/** Counts, and tells now and then how much. */
	private static final class Reminder {

		private final AtomicLong toldNanos;

		private final AtomicLong untold = new AtomicLong();

		Reminder(long toldNanos) {
			this.toldNanos = new AtomicLong(toldNanos);
		}

		/** One more; returns how many there are to be told now, or 0. */
		long add(long nowNanos) {
			this.untold.incrementAndGet();
			long told = this.toldNanos.get();
			boolean due = nowNanos - told >= REMINDER_NANOS && this.toldNanos.compareAndSet(told, nowNanos);
			return due ? this.untold.getAndSet(0) : 0;
		}

	}

}
