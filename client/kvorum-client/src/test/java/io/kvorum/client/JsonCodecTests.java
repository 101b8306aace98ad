package io.kvorum.client;

import java.nio.charset.StandardCharsets;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("A codec of JSON")
class JsonCodecTests {

	private final JsonMapper mapper = new JsonMapper();

	@Test
	@DisplayName("writes plain JSON for a class")
	void ofClass() {
		JsonCodec<Cat> codec = JsonCodec.of(this.mapper, Cat.class);
		byte[] json = codec.encode(new Cat("Tom"));

		assertThat(new String(json, StandardCharsets.UTF_8)).contains("\"name\":\"Tom\"");
		assertThat(codec.decode(json, codec.contentType())).isEqualTo(new Cat("Tom"));
	}

	@Test
	@DisplayName("writes in a list the names by which its elements are read again")
	void ofListOfSeveralClasses() {
		JsonCodec<List<Animal>> codec = JsonCodec.of(this.mapper, new TypeReference<List<Animal>>() {
		});
		List<Animal> animals = List.of(new Cat("Tom"), new Dog("Rex"));

		assertThat(codec.decode(codec.encode(animals), codec.contentType())).isEqualTo(animals);
	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
	@JsonSubTypes({ @JsonSubTypes.Type(value = Cat.class, name = "cat"),
			@JsonSubTypes.Type(value = Dog.class, name = "dog") })
	interface Animal {

	}

	record Cat(String name) implements Animal {
	}

	record Dog(String name) implements Animal {
	}

}
