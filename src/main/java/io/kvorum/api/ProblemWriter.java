package io.kvorum.api;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpResponse;
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
	Mono<Void> writeNotFound(ServerHttpResponse response) {
		return write(response, Problem.NOT_FOUND, this.notFound);
	}

	Mono<Void> write(ServerHttpResponse response, Problem problem) {
		return write(response, problem, toBytes(problem));
	}

	private static Mono<Void> write(ServerHttpResponse response, Problem problem, byte[] body) {
		response.setRawStatusCode(problem.status());
		HttpHeaders headers = response.getHeaders();
		headers.set(HttpHeaders.CONTENT_TYPE, Problem.MEDIA_TYPE);
		headers.set(HttpHeaders.CONTENT_LENGTH, Integer.toString(body.length));
		if (problem.retryAfterSeconds() != null) {
			headers.set(HttpHeaders.RETRY_AFTER, problem.retryAfterSeconds().toString());
		}
		DataBuffer buffer = response.bufferFactory().wrap(body);
		return response.writeWith(Mono.just(buffer));
	}

	private byte[] toBytes(Problem problem) {
		return this.json.writeValueAsBytes(problem.toJson());
	}

}
