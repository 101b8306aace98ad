package io.kvorum.api;

import io.kvorum.access.ApiKey;
import io.kvorum.access.DeniedException;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.RangeCursor;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangeQuery;
import io.kvorum.wire.HttpExchange;
import io.kvorum.wire.OutboundGate;
import io.netty.handler.codec.http.HttpVersion;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.netty.Connection;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.server.HttpServerRequest;

/**
 * Serves {@code /v0/entities}: the entries of a range, streamed as fast as the client
 * takes them. It asks for the next piece when the connection has room. If the rest cannot
 * be read it cuts the connection, so an answer that ends is complete.
 */
final class RangeHandler implements WebHandler {

	static final String PATH = "/v0/entities";

	private static final PathPattern PATTERN = PathPatternParser.defaultInstance.parse(PATH);

	private static final Logger logger = LoggerFactory.getLogger(RangeHandler.class);

	private final KeyValueStore store;

	private final AccessGate access;

	private final ApiSettings settings;

	private final ProblemWriter problems;

	private final RequestObservations observations;

	RangeHandler(KeyValueStore store, AccessGate access, ApiSettings settings, ProblemWriter problems,
			RequestObservations observations) {
		this.store = store;
		this.access = access;
		this.settings = settings;
		this.problems = problems;
		this.observations = observations;
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange) {
		// For the meter of Spring's HTTP requests.
		exchange.getAttributes().put(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE, PATTERN);
		HttpExchange answer = new SpringExchange(exchange);
		ApiKey caller;
		try {
			caller = this.access.admit(answer);
		}
		catch (DeniedException denied) {
			return this.access.refuse(answer, denied);
		}
		// Only requests that are admitted are observed.
		RequestObservation observation = this.observations.begin(answer, PATH);
		return Mono.defer(() -> handle(caller, exchange, answer, observation.observer()))
			.onErrorResume(error -> explain(error, exchange, answer))
			.doFinally(signal -> observation.answered((signal != SignalType.CANCEL) ? answer.status() : 0));
	}

	private Mono<Void> handle(ApiKey caller, ServerWebExchange exchange, HttpExchange answer,
			OperationObserver observer) {
		ServerHttpRequest request = exchange.getRequest();
		if (!request.getMethod().equals(HttpMethod.GET)) {
			answer.set(HttpHeaders.ALLOW, HttpMethod.GET.name());
			return this.problems.write(answer, Problem.methodNotAllowed("A range takes the method GET."));
		}
		if (this.settings.isRetired() && !Takeover.admits(answer)) {
			return this.problems.write(answer, Problem.RETIRED);
		}
		if (isOld(request)) {
			return this.problems.write(answer, Problem.NO_CHUNKS);
		}
		return range(caller, exchange, answer, observer);
	}

	private static boolean isOld(ServerHttpRequest request) {
		HttpServerRequest nativeRequest = ServerHttpRequestDecorator.getNativeRequest(request);
		return nativeRequest.version().equals(HttpVersion.HTTP_1_0);
	}

	private Mono<Void> range(ApiKey caller, ServerWebExchange exchange, HttpExchange answer,
			OperationObserver observer) {
		ServerHttpRequest request = exchange.getRequest();
		ServerHttpResponse response = exchange.getResponse();
		RangeQuery asked = RangeRequest.parse(request.getURI().getRawQuery());
		caller.requireRange(asked.range());
		RequestHeaders.checkRange(answer);
		RangeFormat format = RangeFormat.of(request.getHeaders().getOrEmpty(HttpHeaders.ACCEPT));
		if (format == null) {
			return this.problems.write(answer, Problem.NO_FORMAT);
		}
		response.getHeaders().setContentType(format.mediaType());
		response.getHeaders().setCacheControl("no-cache");
		return Mono.using(() -> this.store.range(asked, observer), read -> write(read,
				() -> this.access.readmit(caller).requireRange(asked.range()), format, gateOf(request), response),
				RangeCursor::close);
	}

	/**
	 * Writes the pieces of a range.
	 * @param right checks the right of the caller before each piece, since a key may be
	 * withdrawn meanwhile
	 */
	private Mono<Void> write(RangeCursor read, Runnable right, RangeFormat format, OutboundGate gate,
			ServerHttpResponse response) {
		gate.beginStream(this.settings.rangeStallTimeout());
		NettyDataBufferFactory buffers = (NettyDataBufferFactory) response.bufferFactory();
		Flux<DataBuffer> body = Mono.defer(() -> gate.whenOpen().doOnSuccess(_ -> right.run()).then(read.next()))
			.repeat()
			.takeUntil(RangePiece::last)
			.map(piece -> buffers.wrap(format.encode(piece)));
		return response.writeWith(body).doFinally(_ -> gate.endStream());
	}

	private static OutboundGate gateOf(ServerHttpRequest request) {
		Connection connection = ServerHttpRequestDecorator.getNativeRequest(request);
		return OutboundGate.of(connection.channel());
	}

	private Mono<Void> explain(Throwable error, ServerWebExchange exchange, HttpExchange answer) {
		ServerHttpResponse response = exchange.getResponse();
		if (response.isCommitted()) {
			logger.atLevel(AbortedException.isConnectionReset(error) ? Level.DEBUG : Level.WARN)
				.log("A range was broken off: {}", String.valueOf(error.getMessage()));
			gateOf(exchange.getRequest()).breakOff();
			// The end of the connection cancels this.
			return Mono.never();
		}
		response.getHeaders().remove(HttpHeaders.CONTENT_TYPE);
		response.getHeaders().remove(HttpHeaders.CACHE_CONTROL);
		if (error instanceof DeniedException denied) {
			return this.access.refuse(answer, denied);
		}
		return this.problems.write(answer, switch (error) {
			case ProblemException ex -> ex.problem();
			case OperationFailedException ex -> Problem.of(ex);
			default -> {
				logger.error("A request for a range failed", error);
				yield Problem.internal();
			}
		});
	}

}
