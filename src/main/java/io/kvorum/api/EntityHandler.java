package io.kvorum.api;

import java.nio.ByteBuffer;
import java.util.Date;

import io.kvorum.api.BodyReader.Body;
import io.kvorum.api.wire.RequestBodyException;
import io.kvorum.api.wire.RequestBodyTimeoutException;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.replication.Coordinator;
import io.kvorum.replication.OperationFailedException;
import io.netty.handler.codec.DateFormatter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.netty.channel.AbortedException;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;

/**
 * {@code /v0/entity}: one value in, one value out. The hot path: no annotations, no
 * codecs, no change of threads where memory has the answer, no copy of a value on its way
 * out and one on its way in.
 */
final class EntityHandler implements WebHandler {

	/** Where this handler is found. */
	static final String PATH = "/v0/entity";

	private static final Logger logger = LoggerFactory.getLogger(EntityHandler.class);

	private static final String ALLOWED = "GET, HEAD, PUT, DELETE";

	private static final String CONSISTENCY = "Kvorum-Consistency";

	/** Values below this are not counted on their way out: connections bound them. */
	private static final int LARGE_VALUE_BYTES = 16 << 10;

	private static final String DEFAULT_CONTENT_TYPE = "application/octet-stream";

	private static final int MAX_CONTENT_TYPE_LENGTH = Entry.MAX_CONTENT_TYPE_BYTES;

	private final Coordinator coordinator;

	private final ApiSettings settings;

	/**
	 * Apart from what comes in: clients that read slowly must not keep others from
	 * writing.
	 */
	private final InFlightBytes outgoing;

	private final BodyReader bodies;

	private final ProblemWriter problems;

	private final TimeSource time;

	private final RequestEvents events;

	EntityHandler(Coordinator coordinator, ApiSettings settings, ProblemWriter problems, TimeSource time,
			RequestEvents events) {
		this.coordinator = coordinator;
		this.settings = settings;
		this.outgoing = new InFlightBytes(settings.maxInFlightBytes());
		this.bodies = new BodyReader(settings, new InFlightBytes(settings.maxInFlightBytes()));
		this.problems = problems;
		this.time = time;
		this.events = events;
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange) {
		long started = this.time.nanos();
		ServerHttpRequest request = exchange.getRequest();
		ServerHttpResponse response = exchange.getResponse();
		Mono<Void> answer;
		try {
			answer = answer(request, response);
		}
		catch (RuntimeException ex) {
			answer = Mono.error(ex);
		}
		return answer.onErrorResume(error -> explain(error, response))
			.doFinally(signal -> count(request.getMethod(), response, signal, started));
	}

	private Mono<Void> answer(ServerHttpRequest request, ServerHttpResponse response) {
		return switch (request.getMethod().name()) {
			case "GET" -> get(parse(request), response, true);
			case "HEAD" -> get(parse(request), response, false);
			case "PUT" -> put(parse(request), request, response);
			case "DELETE" -> delete(parse(request), response);
			default -> {
				response.getHeaders().set(HttpHeaders.ALLOW, ALLOWED);
				yield this.problems.write(response, new Problem(405, "method-not-allowed", "Method not allowed",
						"An entity takes the methods " + ALLOWED + "."));
			}
		};
	}

	private EntityRequest parse(ServerHttpRequest request) {
		return EntityRequest.parse(request.getURI().getRawQuery(), this.coordinator.policy());
	}

	private Mono<Void> get(EntityRequest request, ServerHttpResponse response, boolean withBody) {
		return this.coordinator.get(request.key(), request.replicas())
			.map(live -> found(live, request, response, withBody))
			.defaultIfEmpty(notFound(request, response))
			.flatMap(answer -> answer);
	}

	private Mono<Void> found(Live live, EntityRequest request, ServerHttpResponse response, boolean withBody) {
		Value value = live.value();
		head(request, response, live.version());
		HttpHeaders headers = response.getHeaders();
		headers.set(HttpHeaders.CONTENT_TYPE, live.contentType());
		headers.set(HttpHeaders.CONTENT_LENGTH, Integer.toString(value.length()));
		headers.set(HttpHeaders.LAST_MODIFIED, date(live.version().millis()));
		if (!withBody) {
			return response.setComplete();
		}
		return (value.length() < LARGE_VALUE_BYTES) ? write(value, response) : writeLarge(value, response);
	}

	private static Mono<Void> write(Value value, ServerHttpResponse response) {
		DataBuffer buffer = response.bufferFactory()
			.wrap(ByteBuffer.wrap(value.array(), value.offset(), value.length()));
		return response.writeWith(Mono.just(buffer));
	}

	private Mono<Void> writeLarge(Value value, ServerHttpResponse response) {
		int length = value.length();
		if (!this.outgoing.tryReserve(length)) {
			response.getHeaders().clear();
			return Mono.error(this.outgoing.exhausted());
		}
		return write(value, response).doFinally(_ -> this.outgoing.release(length));
	}

	private Mono<Void> notFound(EntityRequest request, ServerHttpResponse response) {
		return Mono.defer(() -> {
			consistency(request, response);
			return this.problems.writeNotFound(response);
		});
	}

	private Mono<Void> put(EntityRequest request, ServerHttpRequest httpRequest, ServerHttpResponse response) {
		String contentType = contentType(httpRequest);
		Body body = this.bodies.begin(httpRequest);
		return body.value()
			.flatMap(
					value -> this.coordinator.put(request.key(), request.replicas(), contentType, value, request.ttl()))
			.flatMap(version -> done(201, request, response, version))
			.doFinally(_ -> body.release());
	}

	private static String contentType(ServerHttpRequest request) {
		String contentType = request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
		if (contentType == null || contentType.isEmpty()) {
			return DEFAULT_CONTENT_TYPE;
		}
		if (contentType.length() > MAX_CONTENT_TYPE_LENGTH) {
			throw new BadRequestException("content-type-too-long",
					"The Content-Type has %d characters, the limit is %d.".formatted(contentType.length(),
							MAX_CONTENT_TYPE_LENGTH));
		}
		return contentType;
	}

	private Mono<Void> delete(EntityRequest request, ServerHttpResponse response) {
		return this.coordinator.delete(request.key(), request.replicas())
			.flatMap(version -> done(202, request, response, version));
	}

	private Mono<Void> done(int status, EntityRequest request, ServerHttpResponse response, Version version) {
		response.setRawStatusCode(status);
		head(request, response, version);
		response.getHeaders().set(HttpHeaders.CONTENT_LENGTH, "0");
		return response.setComplete();
	}

	private void head(EntityRequest request, ServerHttpResponse response, Version version) {
		consistency(request, response);
		response.getHeaders().set(HttpHeaders.ETAG, EntityTag.quoted(version));
	}

	private void consistency(EntityRequest request, ServerHttpResponse response) {
		response.getHeaders().set(CONSISTENCY, switch (this.coordinator.policy().consistencyOf(request.replicas())) {
			case LINEARIZABLE -> "linearizable";
			case EVENTUAL -> "eventual";
		});
	}

	/** By Netty's formatter, which is the fast one, and takes no other type. */
	@SuppressWarnings("JavaUtilDate")
	private static String date(long millis) {
		return DateFormatter.format(new Date(millis));
	}

	private Mono<Void> explain(Throwable error, ServerHttpResponse response) {
		if (response.isCommitted()) {
			return Mono.error(error);
		}
		return this.problems.write(response, switch (error) {
			case BadRequestException ex -> Problem.badRequest(ex.problem(), String.valueOf(ex.getMessage()));
			case ValueTooLargeException _ -> Problem.valueTooLarge(this.settings.maxValueBytes());
			case NotAcceptedException ex -> Problem.notAccepted(String.valueOf(ex.getMessage()));
			case OperationFailedException ex -> Problem.of(ex);
			case AbortedException _ -> Problem.incompleteBody("The connection ended before the body did.");
			case RequestBodyTimeoutException ex -> Problem.requestTimeout(String.valueOf(ex.getMessage()));
			case RequestBodyException ex -> Problem.incompleteBody(String.valueOf(ex.getMessage()));
			default -> {
				logger.error("A request for an entity failed", error);
				yield Problem.internal();
			}
		});
	}

	private void count(HttpMethod method, ServerHttpResponse response, SignalType signal, long started) {
		HttpStatusCode status = (signal != SignalType.CANCEL) ? response.getStatusCode() : null;
		this.events.answered(method, (status != null) ? status.value() : 0, this.time.nanos() - started);
	}

}
