package io.kvorum.api;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** An exchange of reactor-netty, without WebFlux around it. */
final class NettyExchange implements Exchange {

	private final HttpServerRequest request;

	private final HttpServerResponse response;

	NettyExchange(HttpServerRequest request, HttpServerResponse response) {
		this.request = request;
		this.response = response;
	}

	@Override
	public String method() {
		return this.request.method().name();
	}

	@Override
	public String scheme() {
		return this.request.scheme();
	}

	@Override
	public @Nullable String rawQuery() {
		String uri = this.request.uri();
		int mark = uri.indexOf('?');
		return (mark >= 0) ? uri.substring(mark + 1) : null;
	}

	@Override
	public @Nullable String header(CharSequence name) {
		return this.request.requestHeaders().get(name);
	}

	@Override
	public List<String> headers(CharSequence name) {
		return this.request.requestHeaders().getAll(name);
	}

	@Override
	public @Nullable InetAddress remote() {
		InetSocketAddress remote = this.request.remoteAddress();
		return (remote != null) ? remote.getAddress() : null;
	}

	@Override
	public Flux<ByteBuf> body() {
		return this.request.receive().retain();
	}

	@Override
	public void status(int status) {
		this.response.status(status);
	}

	@Override
	public int status() {
		return this.response.status().code();
	}

	@Override
	public void set(CharSequence name, CharSequence value) {
		this.response.responseHeaders().set(name, value);
	}

	@Override
	public void clear() {
		this.response.responseHeaders().clear();
	}

	@Override
	public boolean isCommitted() {
		return this.response.hasSentHeaders();
	}

	@Override
	public Mono<Void> send(byte[] array, int offset, int length) {
		return this.response.sendObject(Unpooled.wrappedBuffer(array, offset, length)).then();
	}

	@Override
	public Mono<Void> end() {
		return this.response.send();
	}

}
