package io.kvorum.api;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;

import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.wire.HttpExchange;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/**
 * Answers with problems.
 * <p>
 * When a limit is reached or a node is away, operations fail by the thousand and for the
 * same reason. The rendered answer of one is kept for the others. Rendering costs as much
 * as storing a value, and refusals must not slow down the writes that are accepted.
 */
final class ProblemWriter {

	/**
	 * The number of answers that are kept, more than there are reasons at a time; a power
	 * of two.
	 */
	private static final int KEPT = 32;

	private static final int UNSUPPORTED_MEDIA_TYPE = 415;

	private final JsonMapper json;

	private final Map<Problem, Rendered> constant = new HashMap<>();

	private final Rendered notFound;

	/**
	 * The answers by the hash of the failure. A failure with the same place replaces the
	 * one before.
	 */
	private final AtomicReferenceArray<@Nullable Known> known = new AtomicReferenceArray<>(KEPT);

	ProblemWriter(JsonMapper json) {
		this.json = json;
		this.notFound = render(Problem.NOT_FOUND);
		Problem.CONSTANT.forEach(problem -> this.constant.put(problem, render(problem)));
	}

	/** Answers with {@link Problem#NOT_FOUND}, which is common and always the same. */
	Mono<Void> writeNotFound(HttpExchange exchange) {
		return this.notFound.writeTo(exchange);
	}

	Mono<Void> write(HttpExchange exchange, OperationFailedException failed) {
		return rendered(failed).writeTo(exchange);
	}

	Mono<Void> write(HttpExchange exchange, Problem problem) {
		if (problem.status() == UNSUPPORTED_MEDIA_TYPE) {
			// The codings that are accepted: RFC 9110, section 15.5.16.
			exchange.set(HttpHeaderNames.ACCEPT_ENCODING, HttpHeaderValues.IDENTITY);
		}
		Rendered constant = this.constant.get(problem);
		return ((constant != null) ? constant : render(problem)).writeTo(exchange);
	}

	/** Answers with an object, and with the status that is set already. */
	Mono<Void> writeJson(HttpExchange exchange, Map<String, ?> object) {
		byte[] body = this.json.writeValueAsBytes(object);
		exchange.set(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.length));
		return exchange.send(body, 0, body.length);
	}

	private Rendered rendered(OperationFailedException failed) {
		Failure failure = Failure.of(failed);
		int place = failure.hashCode() & (KEPT - 1);
		Known kept = this.known.get(place);
		if (kept != null && kept.failure().equals(failure)) {
			return kept.problem();
		}
		Rendered rendered = render(Problem.of(failed));
		this.known.set(place, new Known(failure, rendered));
		return rendered;
	}

	private Rendered render(Problem problem) {
		return new Rendered(problem, this.json.writeValueAsBytes(problem.toJson()));
	}

	/** A problem as it is sent. */
	private static final class Rendered {

		private final int status;

		private final byte[] body;

		private final String length;

		private final @Nullable String retryAfter;

		Rendered(Problem problem, byte[] body) {
			Integer retryAfter = problem.retryAfterSeconds();
			this.status = problem.status();
			this.body = body;
			this.length = Integer.toString(body.length);
			this.retryAfter = (retryAfter != null) ? retryAfter.toString() : null;
		}

		Mono<Void> writeTo(HttpExchange exchange) {
			exchange.status(this.status);
			exchange.set(HttpHeaderNames.CONTENT_TYPE, Problem.MEDIA_TYPE);
			exchange.set(HttpHeaderNames.CONTENT_LENGTH, this.length);
			if (this.retryAfter != null) {
				exchange.set(HttpHeaderNames.RETRY_AFTER, this.retryAfter);
			}
			return exchange.send(this.body, 0, this.body.length);
		}

	}

	/** The fields of a failed operation that its problem shows. */
	private record Failure(Kind kind, @Nullable String message, int required, int acknowledged, boolean mayHaveHappened,
			boolean mayRetry, List<ReplicaFailure> replicas) {

		static Failure of(OperationFailedException failed) {
			return new Failure(failed.kind(), failed.getMessage(), failed.required(), failed.acknowledged(),
					failed.mayHaveHappened(), failed.mayRetry(), failed.replicas());
		}

	}

	private record Known(Failure failure, Rendered problem) {
	}

}
