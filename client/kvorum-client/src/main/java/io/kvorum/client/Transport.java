package io.kvorum.client;

import java.net.URI;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.ValueTooLarge;
import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.client.reactive.ClientHttpRequest;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.BodyInserter;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClient.RequestBodySpec;
import org.springframework.web.reactive.function.client.WebClient.RequestHeadersSpec;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.netty.channel.AbortedException;

/**
 * Sends one request to one node. What goes wrong with the connection becomes a
 * {@link NoAnswer} that tells whether the node can have got the request.
 */
final class Transport {

	private static final byte[] NOTHING = {};

	/** Of answers that are no values. */
	private static final int MAX_PROBLEM = 64 * 1024;

	/**
	 * The time from which on nodes are not told how long this client waits, as they do
	 * not take longer by default.
	 */
	private static final Duration UNTOLD = Duration.ofSeconds(3);

	/**
	 * A request that is given up after this time was not answered in time. Before it the
	 * caller was in a hurry, and the node need not be slow.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(500);

	/** Says that the connection was closed before anything was written to it. */
	private static final String BEFORE_SEND = "BEFORE send";

	/**
	 * Where Reactor looks for what to do with errors that nobody waits for any more: here
	 * those of an answer that was cancelled, which would be logged.
	 */
	private static final String DROPPED = "reactor.onErrorDropped.local";

	/** Of the exceptions that say that no connection could be had. */
	private static final String POOL = "reactor.netty.internal.shaded.reactor.pool.";

	private final WebClient http;

	private final Supplier<@Nullable String> apiKey;

	private final int maxValueSize;

	/** The most connections to a node. */
	private final int maxConnections;

	private final Duration patience;

	private volatile boolean isClosed;

	/**
	 * The transport of a client.
	 * @param attemptTimeout the longest time that a node is waited for
	 */
	Transport(WebClient http, Supplier<@Nullable String> apiKey, int maxValueSize, int maxConnections,
			Duration attemptTimeout) {
		this.http = http;
		this.apiKey = apiKey;
		this.maxValueSize = maxValueSize;
		this.maxConnections = maxConnections;
		this.patience = (attemptTimeout.compareTo(PATIENCE) < 0) ? attemptTimeout : PATIENCE;
	}

	/** Sends nothing any more: reactor-netty would make connections anew. */
	void close() {
		this.isClosed = true;
	}

	/** The request, with the API key of now. */
	Request authorized(Request request) {
		String key = this.apiKey.get();
		return (key != null) ? request.withApiKey(key) : request;
	}

	/** The answer, whatever its status, to a request that is {@link #authorized}. */
	Mono<Answer> exchange(Node node, Request request, Duration timeout) {
		return Mono.defer(() -> {
			RequestHeadersSpec<?> spec = spec(node, request, target(request, timeout));
			node.begin();
			Sending sending = new Sending(node.inFlight() > this.maxConnections, System::nanoTime);
			return spec.exchangeToMono(response -> answer(node, request, response))
				.cancelOn(Schedulers.fromExecutor(sending::cancel))
				.timeout(timeout)
				.onErrorMap(error -> failure(error, node, request, sending,
						!(error instanceof TimeoutException) || sending.hasWaited(this.patience)))
				.doFinally(signal -> {
					node.end();
					if (signal == SignalType.CANCEL && sending.hasWaited(this.patience)) {
						node.failed(System.nanoTime());
					}
				})
				.contextWrite(context -> context.put(Sending.class, sending).put(DROPPED, ignoring()));
		});
	}

	private static Consumer<Throwable> ignoring() {
		return Transport::ignore;
	}

	private static void ignore(Throwable dropped) {
	}

	/** Reads the body as it is: its type may be any text. */
	private Mono<Answer> answer(Node node, Request request, ClientResponse response) {
		int status = response.statusCode().value();
		boolean isValue = request.isRead() && status == 200;
		return DataBufferUtils
			.join(response.body(BodyExtractors.toDataBuffers()), isValue ? this.maxValueSize : MAX_PROBLEM)
			.map(Transport::take)
			.onErrorResume(DataBufferLimitException.class,
					error -> isValue ? Mono.error(tooLarge(node.url(), "the value")) : Mono.just(NOTHING))
			.defaultIfEmpty(NOTHING)
			.map(body -> new Answer(node, status, response.headers().asHttpHeaders(), body));
	}

	/** What is longer than this client takes. */
	ValueTooLarge tooLarge(URI node, String what) {
		return new ValueTooLarge(new Problem("none", 200,
				"%s is larger than the maxValueSize of this client, %d bytes".formatted(what, this.maxValueSize),
				Outcome.NOT_APPLIED, false, null, 0, 0, List.of()), node);
	}

	/**
	 * The body of an answer with status 200, in pieces as they come; an error for any
	 * other status.
	 * @param silence the longest time in which nothing comes that is waited for
	 */
	Flux<byte[]> stream(Node node, Request request, Duration silence) {
		return Flux.defer(() -> {
			RequestHeadersSpec<?> spec = spec(node, authorized(request), request.target());
			SilenceWatch watch = new SilenceWatch(silence, System::nanoTime);
			node.begin();
			Sending sending = new Sending(node.inFlight() > this.maxConnections, System::nanoTime);
			return spec
				.exchangeToFlux(response -> (response.statusCode().value() == 200)
						? response.body(BodyExtractors.toDataBuffers()).map(Transport::take)
						: answer(node, request, response)
							.flatMapMany(answer -> Flux.error(ProblemReader.read(node.url(), answer, request))))
				.doOnDiscard(DataBuffer.class, DataBufferUtils::release)
				.cancelOn(Schedulers.fromExecutor(sending::cancel))
				.transform(watch::over)
				.onErrorMap(error -> failure(error, node, request, sending, watch.isWaiting()))
				.doFinally(signal -> node.end())
				.contextWrite(context -> context.put(Sending.class, sending));
		});
	}

	private static byte[] take(DataBuffer buffer) {
		byte[] bytes = new byte[buffer.readableByteCount()];
		buffer.read(bytes);
		DataBufferUtils.release(buffer);
		return bytes;
	}

	/**
	 * Tells the node nine tenths of the time, so that its answer, which says what was
	 * done, arrives before the end of it.
	 */
	private static String target(Request request, Duration timeout) {
		return (timeout.compareTo(UNTOLD) < 0)
				? request.target() + "&timeout=" + Math.max(timeout.toMillis() * 9 / 10, 1) + "ms" : request.target();
	}

	private RequestHeadersSpec<?> spec(Node node, Request request, String target) {
		if (this.isClosed) {
			throw new IllegalStateException("this client is closed");
		}
		RequestBodySpec spec = this.http.method(request.method()).uri(URI.create(node.url() + target));
		request.headers().forEach((name, value) -> spec.header(name, checked(name, value)));
		Request.Body body = request.body();
		return (body != null)
				? spec.header(HttpHeaders.CONTENT_TYPE, checked(HttpHeaders.CONTENT_TYPE, body.contentType()))
					.body(inserter(body.bytes()))
				: spec;
	}

	/** Writes the body as it is: its type may be any text, which writers would parse. */
	private static BodyInserter<byte[], ClientHttpRequest> inserter(byte[] bytes) {
		return (request, context) -> {
			request.getHeaders().setContentLength(bytes.length);
			return request.writeWith(Mono.fromSupplier(() -> request.bufferFactory().wrap(bytes)));
		};
	}

	/** Refused here, while it is certain that nothing was sent. */
	private static String checked(String name, String value) {
		int index = HttpHeaderValidationUtil.validateValidHeaderValue(value);
		if (index >= 0) {
			throw new IllegalArgumentException(
					"%s cannot be sent: character %d is none of a header".formatted(name, index));
		}
		return value;
	}

	/**
	 * What has gone wrong, for the caller.
	 * @param isAwaited whether the node was waited for, and for long enough
	 */
	private Throwable failure(Throwable failed, Node node, Request request, Sending sending, boolean isAwaited) {
		if (failed instanceof KvorumException) {
			return failed;
		}
		boolean isNotSent = sending.abandon();
		// Without the headers of the request, which this has, and with them the API key.
		Throwable error = (failed instanceof WebClientRequestException && failed.getCause() != null) ? failed.getCause()
				: failed;
		// What comes later is of the answer, which netty could not read.
		boolean isOfCaller = error instanceof IllegalArgumentException
				&& !(error instanceof UnresolvedAddressException);
		if (error instanceof Sending.ContextLostException || (isOfCaller && isNotSent)) {
			return error;
		}
		Outcome outcome = (isNotSent || request.isRead() || isBeforeSend(error)) ? Outcome.NOT_APPLIED
				: Outcome.UNKNOWN;
		boolean isOfPool = error.getClass().getName().startsWith(POOL)
				|| (error instanceof TimeoutException && sending.isHeldUpHere());
		String why = isOfPool ? "%s was not asked, as all connections of this client are in use: %s"
				: "%s has not answered: %s";
		return new NoAnswer(
				why.formatted(node.url(), (error instanceof TimeoutException)
						? isOfPool ? "none was free in time" : "no answer in time" : error.getMessage()),
				outcome, node.url(), error, isAwaited && !isOfPool);
	}

	private static boolean isBeforeSend(Throwable error) {
		return error instanceof AbortedException && String.valueOf(error.getMessage()).contains(BEFORE_SEND);
	}

}
