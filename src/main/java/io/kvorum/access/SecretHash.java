package io.kvorum.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * SHA-256 of a secret. A slow hash would gain nothing: a secret is 256 generated bits,
 * which no attacker guesses.
 */
final class SecretHash {

	static final int BYTES = 32;

	/** A digest for each thread: a lookup for each request would cost more. */
	private static final ThreadLocal<MessageDigest> DIGESTS = ThreadLocal.withInitial(SecretHash::sha256);

	private SecretHash() {
	}

	static byte[] of(String secret) {
		return DIGESTS.get().digest(secret.getBytes(StandardCharsets.ISO_8859_1));
	}

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every JDK has SHA-256", ex);
		}
	}

}
