package io.kvorum.transport;

import java.util.List;
import java.util.function.Supplier;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.netty.handler.ssl.SslContext;

/**
 * Delegate to the newest of several contexts: each connection gets its engine from the
 * context that is newest when it begins. Sessions resume within one context only, so a
 * new certificate is checked at once.
 */
final class NewestSslContext extends SslContext {

	private final boolean isClient;

	private final Supplier<SslContext> newest;

	NewestSslContext(boolean isClient, Supplier<SslContext> newest) {
		this.isClient = isClient;
		this.newest = newest;
	}

	@Override
	public boolean isClient() {
		return this.isClient;
	}

	@Override
	public List<String> cipherSuites() {
		return this.newest.get().cipherSuites();
	}

	@Override
	@SuppressWarnings("deprecation") // abstract, so it must be overridden
	public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
		return this.newest.get().applicationProtocolNegotiator();
	}

	@Override
	public SSLEngine newEngine(ByteBufAllocator buffers) {
		return this.newest.get().newEngine(buffers);
	}

	@Override
	public SSLEngine newEngine(ByteBufAllocator buffers, String peerHost, int peerPort) {
		return this.newest.get().newEngine(buffers, peerHost, peerPort);
	}

	@Override
	public SSLSessionContext sessionContext() {
		return this.newest.get().sessionContext();
	}

}
