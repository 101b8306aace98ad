package io.kvorum.testing;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.Map;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * An entry of a range: its key, a newline, its value. Two are equal where these bytes
 * are. In the chunk format nobody can tell where a key ends that has a newline itself:
 * there {@link #key()} and {@link #value()} are those of another entry, an equal one.
 */
public final class RangeEntry {

	/** The order of keys: that of their bytes, as unsigned numbers. */
	public static final Comparator<String> BY_BYTES = (one, other) -> Arrays.compareUnsigned(one.getBytes(UTF_8),
			other.getBytes(UTF_8));

	private final byte[] framed;

	private final int keyLength;

	private final String version;

	private final String contentType;

	private RangeEntry(byte[] framed, int keyLength, String version, String contentType) {
		this.framed = framed;
		this.keyLength = keyLength;
		this.version = version;
		this.contentType = contentType;
	}

	public static RangeEntry of(String key, byte[] value) {
		return of(key, value, "", "");
	}

	public static RangeEntry of(String key, String value) {
		return of(key, value.getBytes(UTF_8));
	}

	private static RangeEntry of(String key, byte[] value, String version, String contentType) {
		byte[] bytes = key.getBytes(UTF_8);
		ByteArrayOutputStream framed = new ByteArrayOutputStream(bytes.length + 1 + value.length);
		framed.writeBytes(bytes);
		framed.write('\n');
		framed.writeBytes(value);
		return new RangeEntry(framed.toByteArray(), bytes.length, version, contentType);
	}

	/** A chunk of the chunk format. */
	static RangeEntry ofChunk(byte[] chunk) {
		int keyLength = 0;
		while (keyLength < chunk.length && chunk[keyLength] != '\n') {
			keyLength++;
		}
		if (keyLength == chunk.length) {
			throw new AssertionError("A chunk of %d bytes is no entry: it has no newline".formatted(keyLength));
		}
		return new RangeEntry(chunk, keyLength, "", "");
	}

	/** A line of the other format. */
	static RangeEntry ofLine(Map<String, Object> line) {
		if (!(line.get("id") instanceof String key) || !(line.get("version") instanceof String version)
				|| !(line.get("contentType") instanceof String contentType)
				|| !(line.get("value") instanceof String value) || line.size() != 4) {
			throw new AssertionError("A line is no entry: it has " + line.keySet());
		}
		return of(key, Base64.getDecoder().decode(value), version, contentType);
	}

	public String key() {
		return new String(this.framed, 0, this.keyLength, UTF_8);
	}

	public byte[] value() {
		return Arrays.copyOfRange(this.framed, this.keyLength + 1, this.framed.length);
	}

	/** Empty in the chunk format. */
	public String version() {
		return this.version;
	}

	/** Empty in the chunk format. */
	public String contentType() {
		return this.contentType;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof RangeEntry that && Arrays.equals(this.framed, that.framed);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(this.framed);
	}

	@Override
	public String toString() {
		return "\"%s\" (%d bytes, %08x)".formatted(key(), this.framed.length - this.keyLength - 1, hashCode());
	}

}
