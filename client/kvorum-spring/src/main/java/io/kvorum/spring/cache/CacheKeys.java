package io.kvorum.spring.cache;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The keys of a cache: all begin with its folder, which no other cache shares. */
final class CacheKeys {

	private static final int MAX_BYTES = 1024;

	private static final String HASHED = "~sha256:";

	private static final int HASH_BYTES = HASHED.length() + 64;

	private final String folder;

	CacheKeys(String prefix, String cache) {
		this.folder = prefix + cache.replace("%", "%25").replace("/", "%2F") + '/';
		if (bytes(this.folder) > MAX_BYTES - HASH_BYTES) {
			throw new IllegalArgumentException("the prefix and the name of a cache have at most %d bytes together: %s"
				.formatted(MAX_BYTES - HASH_BYTES, this.folder));
		}
	}

	String folder() {
		return this.folder;
	}

	String key(String text) {
		String key = this.folder + text;
		// A text that looks like a hash would be the key of what has that hash.
		boolean isPlain = bytes(key) <= MAX_BYTES && !text.startsWith(HASHED);
		return isPlain ? key : this.folder + HASHED + hash(text);
	}

	private static int bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8).length;
	}

	private static String hash(String text) {
		// Half of a surrogate pair has no bytes: two such texts would be one key.
		if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
			throw new IllegalArgumentException("a key is text that can be written in UTF-8");
		}
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(hash);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
