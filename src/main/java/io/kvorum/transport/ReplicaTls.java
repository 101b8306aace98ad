package io.kvorum.transport;

import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Function;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import org.jspecify.annotations.Nullable;

/**
 * TLS between nodes. Each end shows a certificate and has that of the other one checked:
 * by the authorities that it trusts, and by the host that it dials or that dials it. What
 * a node shows and trusts may be replaced at any time: new connections take what is
 * newest, those that are open go on with what they have.
 */
public final class ReplicaTls {

	/** Older ones show who is there before they encrypt. */
	public static final String PROTOCOL = "TLSv1.3";

	private static final ByteBufAllocator BUFFERS = UnpooledByteBufAllocator.DEFAULT;

	/** Of an engine that asks no network: only the host is looked at. */
	private static final int ANY_PORT = 1;

	private final String host;

	private volatile Contexts contexts;

	/**
	 * With what this node shows and trusts at first.
	 * @param host by which the other nodes dial this one; an IPv6 address without
	 * brackets
	 * @throws SSLException if another node would refuse it; says why
	 */
	public ReplicaTls(String host, Material material) throws SSLException {
		this.host = host;
		this.contexts = tried(material);
	}

	/**
	 * Takes something else from now on; from any thread.
	 * @throws SSLException if another node would refuse it: nothing has changed then
	 */
	public void replace(Material material) throws SSLException {
		this.contexts = tried(material);
	}

	private Contexts tried(Material material) throws SSLException {
		Contexts fresh = new Contexts(client(material), server(material));
		Certificate shown = TlsRehearsal.of(fresh.client.newEngine(BUFFERS, this.host, ANY_PORT),
				fresh.server.newEngine(BUFFERS));
		// A client may be content with a common name, the other end is not.
		if (!(shown instanceof X509Certificate certificate) || !SubjectNames.name(certificate, this.host)) {
			throw new SSLException("no subject alternative name of it is " + this.host);
		}
		return fresh;
	}

	private static SslContext client(Material material) throws SSLException {
		return common(SslContextBuilder.forClient().keyManager(material.keys), material)
			.endpointIdentificationAlgorithm("HTTPS")
			.build();
	}

	private static SslContext server(Material material) throws SSLException {
		return common(SslContextBuilder.forServer(material.keys), material).clientAuth(ClientAuth.REQUIRE).build();
	}

	private static SslContextBuilder common(SslContextBuilder builder, Material material) {
		return builder.sslProvider(SslProvider.JDK)
			.trustManager(material.trust)
			.protocols(PROTOCOL)
			.ciphers(material.ciphers);
	}

	/** For connections to peers. */
	SslContext ofClient() {
		return newest(true, Contexts::client);
	}

	/** For connections of peers. */
	SslContext ofServer() {
		return newest(false, Contexts::server);
	}

	private SslContext newest(boolean isClient, Function<Contexts, SslContext> end) {
		return new NewestSslContext(isClient, () -> end.apply(this.contexts));
	}

	/**
	 * What a node shows and trusts.
	 *
	 * @param keys its certificate and the key of that
	 * @param trust the authorities that it trusts
	 * @param ciphers null for the JDK's
	 */
	public record Material(KeyManagerFactory keys, TrustManagerFactory trust, @Nullable List<String> ciphers) {
	}

	private record Contexts(SslContext client, SslContext server) {
	}

}
