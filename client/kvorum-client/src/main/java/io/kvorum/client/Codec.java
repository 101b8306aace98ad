package io.kvorum.client;

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

}
