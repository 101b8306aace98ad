package io.kvorum.app;

import java.util.Arrays;
import java.util.List;

import javax.net.ssl.SSLException;

import io.kvorum.app.KvorumProperties.Cluster;
import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.transport.ReplicaTls;
import io.kvorum.transport.ReplicaTls.Material;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;

/**
 * SSL bundle with which a node authenticates to the others. It is checked at the start,
 * which fails if other nodes would refuse it. It is checked again whenever its files
 * change.
 */
final class ReplicaCertificate {

	static final String PROPERTY = "kvorum.cluster.ssl.bundle";

	private static final Logger logger = LoggerFactory.getLogger(ReplicaCertificate.class);

	private final String name;

	/** Null until the bundle has been read for the first time. Guarded by this. */
	private @Nullable ReplicaTls tls;

	private ReplicaCertificate(String name) {
		this.name = name;
	}

	/**
	 * TLS with the bundle that these properties name; null if they name none. It is
	 * reloaded when its files change.
	 * @throws WrongPropertiesException if there is no such bundle, or it cannot be used
	 */
	static @Nullable ReplicaTls reloading(Cluster cluster, SslBundles bundles) {
		String name = cluster.ssl().bundle();
		ReplicaAddress self = cluster.address();
		if (name == null || self == null) {
			return null;
		}
		try {
			ReplicaCertificate certificate = new ReplicaCertificate(name);
			// The handler comes first, so that no change is missed: earlier changes are
			// in the bundle that is read below.
			bundles.addBundleUpdateHandler(name, certificate::update);
			return certificate.begin(self.bareHost(), bundles);
		}
		catch (NoSuchSslBundleException _) {
			throw wrong(name, "must be the name of an SSL bundle (spring.ssl.bundle.pem.%s.*); there are %s"
				.formatted(name, bundles.getBundleNames()));
		}
		catch (SSLException | IllegalArgumentException | IllegalStateException ex) {
			throw wrong(name, "its certificate cannot be used on %s: %s".formatted(self, reason(ex)));
		}
	}

	private static WrongPropertiesException wrong(String name, String rule) {
		return new WrongPropertiesException(List.of(new Violation(PROPERTY, name, rule)));
	}

	private synchronized ReplicaTls begin(String host, SslBundles bundles) throws SSLException {
		ReplicaTls first = new ReplicaTls(host, materialOf(bundles.getBundle(this.name)));
		this.tls = first;
		return first;
	}

	/**
	 * Takes a changed bundle for new connections; open ones go on. Called by Spring's
	 * thread that watches files, which waits while the bundle is first read.
	 */
	private synchronized void update(SslBundle bundle) {
		ReplicaTls current = this.tls;
		if (current == null) {
			return;
		}
		try {
			current.replace(materialOf(bundle));
			logger.info("New connections between nodes use the changed SSL bundle {}", this.name);
		}
		catch (SSLException | RuntimeException ex) {
			logger.error("The changed SSL bundle {} cannot be used between nodes; the previous one stays in use: {}",
					this.name, reason(ex));
		}
	}

	private static Material materialOf(SslBundle bundle) throws SSLException {
		if (bundle.getStores().getKeyStore() == null) {
			throw new SSLException("it has no keystore, with the certificate of this node and its key");
		}
		// Without a truststore the JDK would use its own, and accept any public
		// authority.
		if (bundle.getStores().getTrustStore() == null) {
			throw new SSLException("it has no truststore, with the authority of the certificates of all nodes");
		}
		SslOptions options = bundle.getOptions();
		String[] protocols = options.getEnabledProtocols();
		if (protocols != null && !Arrays.asList(protocols).contains(ReplicaTls.PROTOCOL)) {
			throw new SSLException("its options.enabled-protocols is without %s, which is what nodes speak"
				.formatted(ReplicaTls.PROTOCOL));
		}
		String[] ciphers = options.getCiphers();
		return new Material(bundle.getManagers().getKeyManagerFactory(), bundle.getManagers().getTrustManagerFactory(),
				(ciphers != null) ? List.of(ciphers) : null);
	}

	/** The message of the innermost cause, since outer ones only name the attempt. */
	private static String reason(Throwable error) {
		Throwable cause = error;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		return (cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getSimpleName();
	}

}
