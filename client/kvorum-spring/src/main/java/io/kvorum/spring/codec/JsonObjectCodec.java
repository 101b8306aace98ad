package io.kvorum.spring.codec;

import io.kvorum.client.Codec;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * Objects as JSON, by Jackson 3, as {@code application/json}.
 */
public final class JsonObjectCodec implements Codec<Object> {

	private static final String CONTENT_TYPE = "application/json";

	private final JsonMapper mapper;

	private final JavaType type;

	private JsonObjectCodec(JsonMapper mapper, JavaType type) {
		this.mapper = mapper;
		this.type = type;
	}

	/**
	 * Objects of one class, without a word about it in the JSON: for a cache all values
	 * of which are of that class.
	 * @param mapper how JSON is read and written
	 * @param type the class of all objects
	 * @return the codec, which refuses to write objects of other classes
	 * @throws IllegalArgumentException if the class has type parameters: elements of a
	 * list would be read as maps
	 */
	public static JsonObjectCodec of(JsonMapper mapper, Class<?> type) {
		if (type.getTypeParameters().length > 0) {
			throw new IllegalArgumentException(("%s has type parameters, without which its contents are read as maps: "
					+ "give all of it, as new TypeReference<List<Order>>() {}")
				.formatted(type.getName()));
		}
		return new JsonObjectCodec(mapper, mapper.constructType(type));
	}

	/**
	 * Objects of one type with parameters, {@code new TypeReference<List<Order>>() {}}.
	 * @param mapper how JSON is read and written
	 * @param type the type of all objects
	 * @return the codec, which refuses to write objects of other classes
	 */
	public static JsonObjectCodec of(JsonMapper mapper, TypeReference<?> type) {
		return new JsonObjectCodec(mapper, mapper.constructType(type.getType()));
	}

	/**
	 * Objects of several classes, the names of which the mapper writes into the JSON. So
	 * the mapper has to be made with
	 * {@link JsonMapper.Builder#activateDefaultTyping(tools.jackson.databind.jsontype.PolymorphicTypeValidator)}.
	 * Its validator decides which classes are read: what can write to the store could
	 * otherwise choose what code runs in this process. The names are part of what is
	 * stored, so a class that gets another name cannot be read any more.
	 * @param mapper a mapper with default typing
	 * @return the codec
	 * @throws IllegalArgumentException if the mapper writes no names, by which objects
	 * would come back as maps
	 */
	public static JsonObjectCodec typed(JsonMapper mapper) {
		JsonObjectCodec codec = new JsonObjectCodec(mapper, mapper.constructType(Object.class));
		if (mapper.deserializationConfig().getDefaultTyper(codec.type) == null) {
			throw new IllegalArgumentException(
					"the JsonMapper has no default typing, so objects would be read as maps: "
							+ "make it with activateDefaultTyping(validator), or use of(mapper, type) for one class");
		}
		return codec;
	}

	@Override
	public String contentType() {
		return CONTENT_TYPE;
	}

	@Override
	public byte[] encode(Object value) {
		if (!this.type.getRawClass().isInstance(value)) {
			throw new IllegalArgumentException("this codec writes objects of %s, not of %s"
				.formatted(this.type.getRawClass().getName(), value.getClass().getName()));
		}
		return this.mapper.writerFor(this.type).writeValueAsBytes(value);
	}

	@Override
	public Object decode(byte[] value, String contentType) {
		ContentTypes.check(CONTENT_TYPE, contentType);
		return this.mapper.readValue(value, this.type);
	}

}
