package io.kvorum.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;

import javax.net.ssl.SSLContext;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * An authority and the certificates that it has issued, in a directory below
 * {@code target}: made by {@code src/main/scripts/test-ca}.
 */
public final class TestCa {

	private final Path directory;

	private TestCa(Path directory) {
		this.directory = directory;
	}

	/**
	 * A new authority.
	 * @param name the first part of that of its directory
	 * @param nodes names and addresses for each certificate, with commas in between; the
	 * first names it
	 */
	public static TestCa create(String name, String... nodes) {
		try {
			Path all = Files.createDirectories(Path.of("target", "certificates").toAbsolutePath());
			return new TestCa(Files.createTempDirectory(all, name + "-")).issue(nodes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Issues certificates for these nodes where there are none. */
	public TestCa issue(String... nodes) {
		List<String> command = new ArrayList<>(List.of("src/main/scripts/test-ca", this.directory.toString()));
		command.addAll(List.of(nodes));
		run(command);
		return this;
	}

	/**
	 * Issues a certificate that src/main/scripts/test-ca would not make.
	 * @param name of its files
	 * @param days how long it is valid; it is over where that is negative
	 * @param extensions in OpenSSL's words
	 */
	public TestCa issueOdd(String name, int days, String... extensions) {
		Path request = this.directory.resolve(name + ".csr");
		Path file = this.directory.resolve(name + ".ext");
		run(List.of("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
				"-keyout", key(name).toString(), "-subj", "/CN=" + name, "-out", request.toString()));
		try {
			Files.write(file, List.of(extensions));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		run(List.of("openssl", "x509", "-req", "-in", request.toString(), "-CA", authority().toString(), "-CAkey",
				key("ca").toString(), "-set_serial", "1", "-days", Integer.toString(days), "-extfile", file.toString(),
				"-out", certificate(name).toString()));
		return this;
	}

	private static void run(List<String> command) {
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
			String said = new String(process.getInputStream().readAllBytes(), UTF_8);
			if (process.waitFor() != 0) {
				throw new AssertionError(command + ": " + said);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** The certificate of the authority itself. */
	public Path authority() {
		return certificate("ca");
	}

	public Path certificate(String name) {
		return this.directory.resolve(name + ".crt");
	}

	public Path key(String name) {
		return this.directory.resolve(name + ".key");
	}

	/** Properties of a bundle that shows a certificate, and follows its files. */
	public String[] properties(String bundle, String name) {
		String prefix = "spring.ssl.bundle.pem." + bundle;
		return new String[] { prefix + ".keystore.certificate=" + certificate(name),
				prefix + ".keystore.private-key=" + key(name), prefix + ".keystore.verify-keys=true",
				prefix + ".truststore.certificate=" + authority(), prefix + ".reload-on-update=true",
				"spring.ssl.bundle.watch.file.quiet-period=50ms" };
	}

	/** A certificate that was issued. */
	public X509Certificate issued(String name) {
		try (InputStream in = Files.newInputStream(certificate(name))) {
			return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (CertificateException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A bundle that shows a certificate. */
	public SslBundle bundle(String name) {
		return bundle(name, authority());
	}

	/**
	 * A bundle that shows a certificate, or none, and trusts an authority.
	 */
	public SslBundle bundle(@Nullable String name, Path authority) {
		PemSslStoreDetails shown = (name != null)
				? PemSslStoreDetails.forCertificates(text(certificate(name))).withPrivateKey(text(key(name))) : null;
		return SslBundle.of(new PemSslStoreBundle(shown, PemSslStoreDetails.forCertificates(text(authority))));
	}

	/** Of a client that shows no certificate. */
	public SSLContext client() {
		return bundle(null, authority()).createSslContext();
	}

	/** Puts a file into the place of another one, as tools that renew certificates do. */
	public static void replace(Path file, Path by) {
		try {
			Path beside = file.resolveSibling(file.getFileName() + ".new");
			Files.copy(by, beside, StandardCopyOption.REPLACE_EXISTING);
			Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
