package io.kvorum.observability;

import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.jdk.StringDeserializer;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.module.SimpleModule;

/**
 * Reads an object or a list as its JSON text where a text is expected. Spring Boot reads
 * the body of an operation of an endpoint as texts by name, and fails otherwise.
 */
final class NestedJson extends StdScalarDeserializer<String> {

	NestedJson() {
		super(String.class);
	}

	/** The module for Spring's mapper. */
	static SimpleModule module() {
		return new SimpleModule("kvorum-nested-json").addDeserializer(String.class, new NestedJson());
	}

	@Override
	public String deserialize(JsonParser parser, DeserializationContext context) {
		boolean isNested = parser.currentToken() != null && parser.currentToken().isStructStart();
		return isNested ? context.readTree(parser).toString()
				: StringDeserializer.instance.deserialize(parser, context);
	}

}
