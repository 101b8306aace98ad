package io.kvorum.api;

import java.net.InetAddress;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.replication.OperationEvents;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** An exchange that somebody follows. */
final class FollowedExchange implements Exchange {

	private final Exchange exchange;

	private final @Nullable RequestTrace trace;

	private final @Nullable ServerTiming timing;

	private final OperationEvents follower;

	FollowedExchange(Exchange exchange, @Nullable RequestTrace trace, @Nullable ServerTiming timing) {
		this.exchange = exchange;
		this.trace = trace;
		this.timing = timing;
		this.follower = BothFollowers.of(trace, timing);
	}

	@Override
	public OperationEvents follower() {
		return this.follower;
	}

	@Override
	public void finishHead() {
		if (this.timing != null) {
			set(ServerTiming.HEADER, this.timing.header());
		}
	}

	@Override
	public void answered(int status) {
		if (this.trace != null) {
			this.trace.answered(status);
		}
	}

	@Override
	public Mono<Void> send(byte[] array, int offset, int length) {
		finishHead();
		return this.exchange.send(array, offset, length);
	}

	@Override
	public Mono<Void> end() {
		finishHead();
		return this.exchange.end();
	}

	@Override
	public String method() {
		return this.exchange.method();
	}

	@Override
	public String scheme() {
		return this.exchange.scheme();
	}

	@Override
	public @Nullable String rawQuery() {
		return this.exchange.rawQuery();
	}

	@Override
	public @Nullable String header(CharSequence name) {
		return this.exchange.header(name);
	}

	@Override
	public List<String> headers(CharSequence name) {
		return this.exchange.headers(name);
	}

	@Override
	public @Nullable InetAddress remote() {
		return this.exchange.remote();
	}

	@Override
	public <T> Mono<T> readBody(Consumer<ByteBuf> part, Supplier<T> whole) {
		return this.exchange.readBody(part, whole);
	}

	@Override
	public void status(int status) {
		this.exchange.status(status);
	}

	@Override
	public int status() {
		return this.exchange.status();
	}

	@Override
	public void set(CharSequence name, CharSequence value) {
		this.exchange.set(name, value);
	}

	@Override
	public boolean isCommitted() {
		return this.exchange.isCommitted();
	}

}
