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
 * TLS between nodes. Each end presents a certificate and checks that of the other end,
 * against its trusted authorities and the host. Certificates and authorities may be
 * replaced at any time. New connections use the newest; open connections keep theirs.
 */
public final class ReplicaTls {

	/** The only version: older ones send certificates unencrypted. */
	public static final String PROTOCOL = "TLSv1.3";

	private static final ByteBufAllocator BUFFERS = UnpooledByteBufAllocator.DEFAULT;

	/** Port for an in-memory engine: only its host matters. */
	private static final int ANY_PORT = 1;

	private final String host;

	private volatile Contexts contexts;

	/**
	 * Creates TLS with the node's first certificate and authorities.
	 * @param host that the other nodes dial to reach this one; an IPv6 address without
	 * brackets
	 * @throws SSLException if another node would refuse it; says why
	 */
	public ReplicaTls(String host, Material material) throws SSLException {
		this.host = host;
		this.contexts = tried(material);
	}

	/**
	 * Replaces certificate and authorities for new connections. Called from any thread.
	 * @throws SSLException if another node would refuse it; then nothing changes
	 */
	public void replace(Material material) throws SSLException {
		this.contexts = tried(material);
	}

	private Contexts tried(Material material) throws SSLException {
		Contexts fresh = new Contexts(client(material), server(material));
		Certificate shown = InMemoryTlsHandshake.of(fresh.client.newEngine(BUFFERS, this.host, ANY_PORT),
				fresh.server.newEngine(BUFFERS));
		// A TLS client may accept a common name; the replica port, which uses
		// SubjectNames, does not.
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

	/** The context for connections to peers. */
	SslContext ofClient() {
		return newest(true, Contexts::client);
	}

	/** The context for connections from peers. */
	SslContext ofServer() {
		return newest(false, Contexts::server);
	}

	private SslContext newest(boolean isClient, Function<Contexts, SslContext> end) {
		return new NewestSslContext(isClient, () -> end.apply(this.contexts));
	}

	/**
	 * The certificate of a node and the authorities that it trusts.
	 *
	 * @param keys the certificate and its key
	 * @param trust the trusted authorities
	 * @param ciphers null for the defaults of the JDK
	 */
	public record Material(KeyManagerFactory keys, TrustManagerFactory trust, @Nullable List<String> ciphers) {
	}

	private record Contexts(SslContext client, SslContext server) {
	}

}
