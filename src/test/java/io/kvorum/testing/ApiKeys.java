package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;

/** Makes files of API keys. The secret of a key of a test follows from its id. */
public final class ApiKeys {

	private ApiKeys() {
	}

	/** 256 bits in base64url. */
	public static String secret(String id) {
		return Base64.getUrlEncoder().withoutPadding().encodeToString(sha256("the secret of " + id));
	}

	/** The header by which a request comes with this key. */
	public static String bearer(String id) {
		return "Bearer " + id + "." + secret(id);
	}

	/** An entry of the file. */
	public static String entry(String id, String properties) {
		return """
				{"id":"%s","sha256":"%s",%s}""".formatted(id, HexFormat.of().formatHex(sha256(secret(id))), properties);
	}

	/** The content of a file. */
	public static byte[] content(String... entries) {
		return text(entries).getBytes(StandardCharsets.UTF_8);
	}

	/** The same, to be written by somebody else. */
	public static String text(String... entries) {
		return "{\"keys\":[%s]}".formatted(String.join(",\n", entries));
	}

	/** A new file with these entries. */
	public static Path file(String... entries) {
		try {
			Path directory = Files.createDirectories(Path.of("target", "keys"));
			return Files.write(Files.createTempFile(directory, "keys", ".json"), content(entries));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static byte[] sha256(String text) {
		try {
			return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
