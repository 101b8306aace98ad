package io.kvorum.api;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.wire.HttpExchange;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** An exchange of WebFlux. Filters and decorators see everything that it does. */
final class SpringExchange implements HttpExchange {

	private final ServerHttpRequest request;

	private final ServerHttpResponse response;

	SpringExchange(ServerWebExchange exchange) {
		this.request = exchange.getRequest();
		this.response = exchange.getResponse();
	}

	@Override
	public String method() {
		return this.request.getMethod().name();
	}

	@Override
	public String scheme() {
		return (this.request.getSslInfo() != null) ? "https" : "http";
	}

	@Override
	public @Nullable String rawQuery() {
		return this.request.getURI().getRawQuery();
	}

	@Override
	public @Nullable String header(CharSequence name) {
		return this.request.getHeaders().getFirst(name.toString());
	}

	@Override
	public List<String> headers(CharSequence name) {
		return this.request.getHeaders().getOrEmpty(name.toString());
	}

	@Override
	public @Nullable InetAddress remote() {
		InetSocketAddress remote = this.request.getRemoteAddress();
		return (remote != null) ? remote.getAddress() : null;
	}

	@Override
	public <T> Mono<T> readBody(Consumer<ByteBuf> part, Supplier<T> whole) {
		return this.request.getBody()
			.doOnNext(buffer -> lend(NettyDataBufferFactory.toByteBuf(buffer), part))
			.then(Mono.fromSupplier(whole));
	}

	private static void lend(ByteBuf buffer, Consumer<ByteBuf> to) {
		try {
			to.accept(buffer);
		}
		finally {
			buffer.release();
		}
	}

	@Override
	public void status(int status) {
		this.response.setRawStatusCode(status);
	}

	@Override
	public int status() {
		HttpStatusCode status = this.response.getStatusCode();
		return (status != null) ? status.value() : HttpStatus.OK.value();
	}

	@Override
	public void set(CharSequence name, CharSequence value) {
		this.response.getHeaders().set(name.toString(), value.toString());
	}

	@Override
	public void beforeCommit(Runnable task) {
		this.response.beforeCommit(() -> Mono.fromRunnable(task));
	}

	@Override
	public boolean isCommitted() {
		return this.response.isCommitted();
	}

	@Override
	public Mono<Void> send(byte[] array, int offset, int length) {
		DataBuffer buffer = this.response.bufferFactory().wrap(ByteBuffer.wrap(array, offset, length));
		return this.response.writeWith(Mono.just(buffer));
	}

	@Override
	public Mono<Void> end() {
		return this.response.setComplete();
	}

}
