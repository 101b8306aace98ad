package io.kvorum.client;

import java.nio.charset.StandardCharsets;

/**
 * How values of a type are stored.
 *
 * @param <T> the type
 */
public interface Codec<T> {

	/**
	 * What values are written as.
	 * @return the {@code Content-Type}; at most 255 characters
	 */
	String contentType();

	/**
	 * Writes a value.
	 * @param value the value
	 * @return its bytes, which are not changed any more
	 * @throws RuntimeException if the value cannot be written; nothing is sent then
	 */
	byte[] encode(T value);

	/**
	 * Reads a value.
	 * @param value its bytes
	 * @param contentType what the value was written as, by this codec or another one
	 * @return the value
	 * @throws RuntimeException if this is no value of the type
	 */
	T decode(byte[] value, String contentType);

	/**
	 * Bytes as they are, as {@code application/octet-stream}.
	 * @return the codec
	 */
	static Codec<byte[]> bytes() {
		return BytesCodec.INSTANCE;
	}

	/**
	 * Text in UTF-8, as {@code text/plain}.
	 * @return the codec
	 */
	static Codec<String> text() {
		return TextCodec.INSTANCE;
	}

	/** Bytes as they are. */
	final class BytesCodec implements Codec<byte[]> {

		private static final BytesCodec INSTANCE = new BytesCodec();

		private BytesCodec() {
		}

		@Override
		public String contentType() {
			return "application/octet-stream";
		}

		@Override
		public byte[] encode(byte[] value) {
			return value;
		}

		@Override
		public byte[] decode(byte[] value, String contentType) {
			return value;
		}

	}

	/** Text in UTF-8. */
	final class TextCodec implements Codec<String> {

		private static final TextCodec INSTANCE = new TextCodec();

		private TextCodec() {
		}

		@Override
		public String contentType() {
			return "text/plain;charset=UTF-8";
		}

		@Override
		public byte[] encode(String value) {
			return value.getBytes(StandardCharsets.UTF_8);
		}

		@Override
		public String decode(byte[] value, String contentType) {
			return new String(value, StandardCharsets.UTF_8);
		}

	}

}
