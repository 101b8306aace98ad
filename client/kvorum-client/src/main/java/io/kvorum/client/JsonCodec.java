package io.kvorum.client;

import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * Values as JSON, by Jackson 3, which has to be on the class path
 * ({@code tools.jackson.core:jackson-databind}).
 *
 * @param <T> the type of values
 */
public final class JsonCodec<T> implements Codec<T> {

	private final JsonMapper mapper;

	private final JavaType type;

	private JsonCodec(JsonMapper mapper, JavaType type) {
		this.mapper = mapper;
		this.type = type;
	}

	/**
	 * A codec of a class.
	 * @param <T> the type of values
	 * @param mapper how JSON is read and written
	 * @param type the type of values
	 * @return the codec
	 */
	public static <T> JsonCodec<T> of(JsonMapper mapper, Class<T> type) {
		return new JsonCodec<>(mapper, mapper.constructType(type));
	}

	/**
	 * A codec of a type with parameters, {@code new TypeReference<List<Order>>() {}}.
	 * @param <T> the type of values
	 * @param mapper how JSON is read and written
	 * @param type the type of values
	 * @return the codec
	 */
	public static <T> JsonCodec<T> of(JsonMapper mapper, TypeReference<T> type) {
		return new JsonCodec<>(mapper, mapper.constructType(type.getType()));
	}

	@Override
	public String contentType() {
		return "application/json";
	}

	/**
	 * Elements of a list or a map are written by their declared type, as they are read.
	 */
	@Override
	public byte[] encode(T value) {
		return (this.type.containedTypeCount() > 0) ? this.mapper.writerFor(this.type).writeValueAsBytes(value)
				: this.mapper.writeValueAsBytes(value);
	}

	@Override
	public T decode(byte[] value, String contentType) {
		return this.mapper.readValue(value, this.type);
	}

}
