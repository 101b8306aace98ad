package io.kvorum.api;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.wire.WireExchange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** An exchange straight from its connection. */
final class NettyExchange implements Exchange {

	private final WireExchange exchange;

	NettyExchange(WireExchange exchange) {
		this.exchange = exchange;
	}

	@Override
	public String method() {
		return this.exchange.request().method().name();
	}

	@Override
	public String scheme() {
		return this.exchange.isSecure() ? "https" : "http";
	}

	@Override
	public @Nullable String rawQuery() {
		String uri = this.exchange.request().uri();
		int mark = uri.indexOf('?');
		return (mark >= 0) ? uri.substring(mark + 1) : null;
	}

	@Override
	public @Nullable String header(CharSequence name) {
		return this.exchange.request().headers().get(name);
	}

	@Override
	public List<String> headers(CharSequence name) {
		return this.exchange.request().headers().getAll(name);
	}

	@Override
	public @Nullable InetAddress remote() {
		return (this.exchange.remote() instanceof InetSocketAddress remote) ? remote.getAddress() : null;
	}

	@Override
	public <T> Mono<T> readBody(Consumer<ByteBuf> part, Supplier<T> whole) {
		return this.exchange.readBody(part, whole);
	}

	@Override
	public void status(int status) {
		this.exchange.status(HttpResponseStatus.valueOf(status));
	}

	@Override
	public int status() {
		return this.exchange.status().code();
	}

	@Override
	public void set(CharSequence name, CharSequence value) {
		this.exchange.headers().set(name, value);
	}

	@Override
	public boolean isCommitted() {
		return this.exchange.isCommitted();
	}

	@Override
	public Mono<Void> send(byte[] array, int offset, int length) {
		return this.exchange.send(Unpooled.wrappedBuffer(array, offset, length));
	}

	@Override
	public Mono<Void> end() {
		return this.exchange.send(Unpooled.EMPTY_BUFFER);
	}

}
