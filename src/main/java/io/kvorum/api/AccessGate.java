package io.kvorum.api;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.kvorum.access.AccessControl;
import io.kvorum.access.AccessEvents;
import io.kvorum.access.ApiKey;
import io.kvorum.access.Denial;
import io.kvorum.access.DeniedException;
import io.kvorum.access.TokenBucket;
import io.kvorum.clock.TimeSource;
import io.kvorum.wire.HttpExchange;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Checks the API key of a request, and answers with a problem if it is refused. The
 * handlers call it, so that no way to them passes it by.
 */
final class AccessGate {

	private static final Logger logger = LoggerFactory.getLogger(AccessGate.class);

	/** The shortest time between two log lines about denials of one kind. */
	private static final long REMINDER_NANOS = TimeUnit.MINUTES.toNanos(1);

	private static final long NANOS_OF_A_SECOND = TimeUnit.SECONDS.toNanos(1);

	/** The headers of draft-ietf-httpapi-ratelimit-headers. */
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
			this.reminders.put(denial, new Reminder(REMINDER_NANOS, time.nanos()));
		}
	}

	/** Whether requests need an API key. */
	boolean requiresKey() {
		return this.control.isControlled();
	}

	/**
	 * Returns the API key of a request. The answer will have headers with the rest of its
	 * rate.
	 * @throws DeniedException if the key is missing, not good, or over its rate
	 */
	ApiKey admit(HttpExchange exchange) {
		if (!this.control.isControlled()) {
			return ApiKey.anyone();
		}
		ApiKey caller = this.control.admit(exchange.headers(HttpHeaderNames.AUTHORIZATION));
		TokenBucket bucket = caller.bucket();
		if (bucket != null) {
			long now = this.time.nanos();
			setRateHeaders(exchange, bucket, bucket.remaining(now), bucket.secondsUntilFull(now));
		}
		return caller;
	}

	/**
	 * Returns the current state of a key that was admitted before, during a long answer.
	 * @throws DeniedException if the key is no longer good
	 */
	ApiKey readmit(ApiKey caller) {
		return this.control.readmit(caller);
	}

	private static void setRateHeaders(HttpExchange exchange, TokenBucket bucket, long remaining, long seconds) {
		exchange.set(RATE_LIMIT_POLICY, "\"key\";q=" + bucket.rate().burst() + ";w=" + bucket.windowSeconds());
		exchange.set(RATE_LIMIT, "\"key\";r=" + remaining + ";t=" + seconds);
	}

	/**
	 * Answers a request that is not admitted, and reports it to the meters and the log.
	 */
	Mono<Void> refuse(HttpExchange exchange, DeniedException denied) {
		this.events.denied(denied.denial());
		log(exchange, denied.denial());
		TokenBucket emptied = denied.emptied();
		if (emptied != null) {
			setRateHeaders(exchange, emptied, 0, Math.ceilDiv(denied.waitNanos(), NANOS_OF_A_SECOND));
		}
		Problem problem = Problem.of(denied);
		if (problem.status() == HttpResponseStatus.UNAUTHORIZED.code()) {
			exchange.set(HttpHeaderNames.WWW_AUTHENTICATE, CHALLENGE);
		}
		return this.problems.write(exchange, problem);
	}

	/** Logs nothing that a client has sent: neither ids nor keys nor headers. */
	private void log(HttpExchange exchange, Denial denial) {
		Reminder reminder = this.reminders.get(denial);
		long count = (reminder != null) ? reminder.add(this.time.nanos()) : 0;
		if (count > 0) {
			logger.warn("Denied, {}: {} requests since the last such line, the last one from {}", describe(denial),
					count, exchange.remote());
		}
	}

	private static String describe(Denial denial) {
		return switch (denial) {
			case MISSING -> "without an API key";
			case MALFORMED -> "with a malformed API key";
			case WRONG -> "with an API key that is not in the file";
			case EXPIRED -> "with an API key that has expired";
			case ENTITY -> "an entity that the API key has no right to";
			case RANGE -> "a range that the API key has no right to";
			case ENDPOINT -> "a management endpoint that the API key has no right to";
			case RATE -> "faster than the rate of the API key";
		};
	}

}
