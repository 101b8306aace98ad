package io.kvorum.client;

/**
 * A codec whose errors are exceptions. Reactor takes an error of linking or of the stack
 * for the end of the JVM and tells nobody, so that callers would wait for ever.
 *
 * @param <T> the type of values
 */
record SafeCodec<T>(Codec<T> codec) implements Codec<T> {

	@Override
	public String contentType() {
		return this.codec.contentType();
	}

	@Override
	public byte[] encode(T value) {
		try {
			return this.codec.encode(value);
		}
		catch (LinkageError | StackOverflowError ex) {
			throw new IllegalStateException("an object of %s cannot be written".formatted(value.getClass().getName()),
					ex);
		}
	}

	@Override
	public T decode(byte[] value, String contentType) {
		try {
			return this.codec.decode(value, contentType);
		}
		catch (LinkageError | StackOverflowError ex) {
			throw new IllegalStateException("a value of type %s cannot be read".formatted(contentType), ex);
		}
	}

}
