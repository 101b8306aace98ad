package io.kvorum.ycsb;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The fields of a record as one value: for each field the length of its name, its name in
 * UTF-8, the length of its value, its value. A length is a varint: seven bits a byte, the
 * lowest first, all bytes but the last with the eighth bit set. No fields are no bytes.
 */
final class FieldCodec {

	private static final int PAYLOAD_BITS = 7;

	private static final int MORE = 1 << PAYLOAD_BITS;

	/** A length has 31 bits. */
	private static final int MAX_SHIFT = 4 * PAYLOAD_BITS;

	private FieldCodec() {
	}

	static byte[] encode(Map<String, byte[]> fields) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		fields.forEach((name, value) -> {
			write(name.getBytes(StandardCharsets.UTF_8), out);
			write(value, out);
		});
		return out.toByteArray();
	}

	private static void write(byte[] bytes, ByteArrayOutputStream out) {
		int length = bytes.length;
		for (; length >= MORE; length >>>= PAYLOAD_BITS) {
			out.write(length | MORE);
		}
		out.write(length);
		out.writeBytes(bytes);
	}

	/**
	 * The fields that a value holds, in the order they were encoded in.
	 * @throws IllegalArgumentException if it is no encoding of fields
	 */
	static Map<String, byte[]> decode(byte[] bytes) {
		Map<String, byte[]> fields = new LinkedHashMap<>();
		Reader reader = new Reader(bytes);
		while (reader.hasMore()) {
			String name = new String(reader.next(), StandardCharsets.UTF_8);
			if (fields.put(name, reader.next()) != null) {
				throw new IllegalArgumentException("a field is there twice");
			}
		}
		return fields;
	}

	private static final class Reader {

		private final byte[] bytes;

		private int at;

		Reader(byte[] bytes) {
			this.bytes = bytes;
		}

		boolean hasMore() {
			return this.at < this.bytes.length;
		}

		byte[] next() {
			int length = length();
			if (length < 0 || length > this.bytes.length - this.at) {
				throw new IllegalArgumentException(
						"%d bytes at %d of %d".formatted(length, this.at, this.bytes.length));
			}
			byte[] part = new byte[length];
			System.arraycopy(this.bytes, this.at, part, 0, length);
			this.at += length;
			return part;
		}

		private int length() {
			int length = 0;
			for (int shift = 0; shift <= MAX_SHIFT && hasMore(); shift += PAYLOAD_BITS) {
				int next = this.bytes[this.at++];
				length |= (next & (MORE - 1)) << shift;
				if ((next & MORE) == 0) {
					return length;
				}
			}
			throw new IllegalArgumentException("a length without an end at " + this.at);
		}

	}

}
