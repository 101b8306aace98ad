package io.kvorum.api;

import io.netty.handler.codec.http.HttpHeaderNames;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** Answers with problems. */
final class ProblemWriter {

	private final JsonMapper json;

	private final byte[] notFound;

	ProblemWriter(JsonMapper json) {
		this.json = json;
		this.notFound = toBytes(Problem.NOT_FOUND);
	}

	/** Answers with {@link Problem#NOT_FOUND}, which is common and always the same. */
	Mono<Void> writeNotFound(Exchange exchange) {
		return write(exchange, Problem.NOT_FOUND, this.notFound);
	}

	Mono<Void> write(Exchange exchange, Problem problem) {
		return write(exchange, problem, toBytes(problem));
	}

	private static Mono<Void> write(Exchange exchange, Problem problem, byte[] body) {
		exchange.status(problem.status());
		exchange.set(HttpHeaderNames.CONTENT_TYPE, Problem.MEDIA_TYPE);
		exchange.set(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.length));
		if (problem.retryAfterSeconds() != null) {
			exchange.set(HttpHeaderNames.RETRY_AFTER, problem.retryAfterSeconds().toString());
		}
		return exchange.send(body, 0, body.length);
	}

	private byte[] toBytes(Problem problem) {
		return this.json.writeValueAsBytes(problem.toJson());
	}

}
