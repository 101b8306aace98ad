package io.kvorum.client;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.ValueTooLarge;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClient.RequestHeadersSpec;
import org.springframework.web.reactive.function.client.WebClient.RequestBodySpec;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;
import reactor.netty.internal.shaded.reactor.pool.PoolAcquirePendingLimitException;
import reactor.netty.internal.shaded.reactor.pool.PoolAcquireTimeoutException;

/**
 * Sends one request to one node. What goes wrong with the connection becomes a
 * {@link NoAnswer} that tells whether the node can have got the request.
 */
final class Transport {

	private static final byte[] NOTHING = {};

	/** Says that a request was not begun, as the connection was closed by then. */
	private static final String BEFORE_SEND = "BEFORE send";

	private final WebClient http;

	private final Supplier<@Nullable String> apiKey;

	Transport(WebClient http, Supplier<@Nullable String> apiKey) {
		this.http = http;
		this.apiKey = apiKey;
	}

	/** The answer, whatever its status. */
	Mono<Answer> exchange(Node node, Request request, Duration timeout) {
		return Mono.defer(() -> {
			node.begin();
			return spec(node, request).exchangeToMono(response -> answer(node, response))
				.timeout(timeout)
				.onErrorMap(error -> failure(error, node.url(), request))
				.doFinally(signal -> node.end());
		});
	}

	private static Mono<Answer> answer(Node node, ClientResponse response) {
		return response.bodyToMono(byte[].class)
			.defaultIfEmpty(NOTHING)
			.map(body -> new Answer(node, response.statusCode().value(), response.headers().asHttpHeaders(), body));
	}

	/**
	 * The body of an answer with status 200, in pieces as they come; an error for any
	 * other status.
	 * @param silence the longest time in which nothing comes that is waited for
	 */
	Flux<byte[]> stream(Node node, Request request, Duration silence) {
		return Flux.defer(() -> {
			node.begin();
			SilenceWatch watch = new SilenceWatch(silence, System::nanoTime);
			return spec(node, request)
				.exchangeToFlux(response -> (response.statusCode().value() == 200)
						? response.bodyToFlux(DataBuffer.class).map(Transport::take)
						: answer(node, response)
							.flatMapMany(answer -> Flux.error(ProblemReader.read(node.url(), answer, true))))
				.doOnDiscard(DataBuffer.class, DataBufferUtils::release)
				.transform(watch::over)
				.onErrorMap(error -> failure(error, node.url(), request))
				.doFinally(signal -> node.end());
		});
	}

	private static byte[] take(DataBuffer buffer) {
		byte[] bytes = new byte[buffer.readableByteCount()];
		buffer.read(bytes);
		DataBufferUtils.release(buffer);
		return bytes;
	}

	private RequestHeadersSpec<?> spec(Node node, Request request) {
		RequestBodySpec spec = this.http.method(request.method()).uri(URI.create(node.url() + request.target()));
		request.headers().forEach(spec::header);
		String key = this.apiKey.get();
		if (key != null) {
			spec.header(HttpHeaders.AUTHORIZATION, "Bearer " + key);
		}
		Request.Body body = request.body();
		return (body != null) ? spec.header(HttpHeaders.CONTENT_TYPE, body.contentType()).bodyValue(body.bytes())
				: spec;
	}

	private static Throwable failure(Throwable error, URI node, Request request) {
		if (error instanceof KvorumException) {
			return error;
		}
		if (error instanceof DataBufferLimitException) {
			return new ValueTooLarge(new Problem("none", 200,
					"the value is larger than the maxValueSize of this client: " + error.getMessage(),
					Outcome.NOT_APPLIED, false, null, 0, 0, List.of()), node);
		}
		boolean isNotSent = causes(error, 0);
		return new NoAnswer(
				"%s has not answered: %s".formatted(node,
						(error instanceof TimeoutException) ? "no answer in time" : error.getMessage()),
				(isNotSent || request.isRead()) ? Outcome.NOT_APPLIED : Outcome.UNKNOWN, node, error);
	}

	/** Whether an error is from before the request was sent. */
	private static boolean causes(@Nullable Throwable error, int depth) {
		if (error == null || depth > 8) {
			return false;
		}
		return error instanceof ConnectException || error instanceof UnknownHostException
				|| error instanceof NoRouteToHostException || error instanceof UnresolvedAddressException
				|| error instanceof PoolAcquirePendingLimitException || error instanceof PoolAcquireTimeoutException
				|| (error instanceof AbortedException && String.valueOf(error.getMessage()).contains(BEFORE_SEND))
				|| causes(error.getCause(), depth + 1);
	}

}
