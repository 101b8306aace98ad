package io.kvorum.access;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Makes keys files. */
final class KeysFiles {

	/** A secret of the right form. */
	static final String SECRET = "abcdefghijklmnopqrstuvwxyz-_ABCDEFGHIJKLMNO";

	private KeysFiles() {
	}

	static String hash(String secret) {
		return HexFormat.of().formatHex(SecretHash.of(secret));
	}

	/** A key with this secret and these further properties. */
	static String key(String id, String secret, String more) {
		return """
				{"id":"%s","sha256":"%s",%s}""".formatted(id, hash(secret), more);
	}

	static byte[] file(String... keys) {
		return "{\"keys\":[%s]}".formatted(String.join(",", keys)).getBytes(StandardCharsets.UTF_8);
	}

}
