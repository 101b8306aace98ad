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

	/** Older versions send the certificate before they encrypt. */
	public static final String PROTOCOL = "TLSv1.3";

	private static final ByteBufAllocator BUFFERS = UnpooledByteBufAllocator.DEFAULT;

	/**
	 * A placeholder port: the engine opens no connection, and only the host is checked.
	 */
	private static final int ANY_PORT = 1;

	private final String host;

	private volatile Contexts contexts;

	/**
	 * Creates the TLS of a node from its first certificate and authorities.
	 * @param host the host by which the other nodes dial this one; an IPv6 address
	 * without brackets
	 * @throws SSLException if another node would refuse it; the message says why
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
		Certificate shown = InMemoryTlsHandshake.of(fresh.client.newEngine(BUFFERS, this.host, ANY_PORT),
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

	/** The context of connections to peers. */
	SslContext ofClient() {
		return newest(true, Contexts::client);
	}

	/** The context of connections from peers. */
	SslContext ofServer() {
		return newest(false, Contexts::server);
	}

	private SslContext newest(boolean isClient, Function<Contexts, SslContext> end) {
		return new NewestSslContext(isClient, () -> end.apply(this.contexts));
	}

	/**
	 * The certificate that a node shows and the authorities that it trusts.
	 *
	 * @param keys the certificate and its private key
	 * @param trust the trusted authorities
	 * @param ciphers null for those of the JDK
	 */
	public record Material(KeyManagerFactory keys, TrustManagerFactory trust, @Nullable List<String> ciphers) {
	}

	private record Contexts(SslContext client, SslContext server) {
	}

}
