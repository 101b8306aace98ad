package io.kvorum.client;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;

/** Reads JSON into maps and lists. */
final class Json {

	private static final JsonFactory FACTORY = new JsonFactory();

	private Json() {
	}

	/**
	 * The members of an object.
	 * @throws JacksonException if this is no JSON object
	 */
	static Map<String, @Nullable Object> object(byte[] json) {
		try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), json)) {
			if (parser.nextToken() != JsonToken.START_OBJECT) {
				throw new StreamReadException(parser, "no JSON object");
			}
			return object(parser);
		}
	}

	private static Map<String, @Nullable Object> object(JsonParser parser) {
		Map<String, @Nullable Object> members = new LinkedHashMap<>();
		for (String name = parser.nextName(); name != null; name = parser.nextName()) {
			parser.nextToken();
			members.put(name, value(parser));
		}
		return members;
	}

	private static @Nullable Object value(JsonParser parser) {
		return switch (parser.currentToken()) {
			case START_OBJECT -> object(parser);
			case START_ARRAY -> {
				List<@Nullable Object> elements = new ArrayList<>();
				while (parser.nextToken() != JsonToken.END_ARRAY) {
					elements.add(value(parser));
				}
				yield elements;
			}
			case VALUE_STRING -> parser.getString();
			case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
			case VALUE_TRUE -> true;
			case VALUE_FALSE -> false;
			default -> null;
		};
	}

}
