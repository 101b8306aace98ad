package io.kvorum.spring.codec;

import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.client.Codec;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.core.serializer.support.SerializationFailedException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@DisplayName("Codecs of objects")
class ObjectCodecTests {

	private static final JsonMapper PLAIN = JsonMapper.builder().build();

	private static final JsonMapper TYPED = JsonMapper.builder()
		.activateDefaultTyping(BasicPolymorphicTypeValidator.builder()
			.allowIfSubType("io.kvorum.spring.codec.")
			.allowIfSubType("java.util.")
			.build())
		.build();

	record Point(int x, int y) implements Serializable {
	}

	static final class Other implements Serializable {

		private static final long serialVersionUID = 1;

	}

	private static Object copy(Codec<Object> codec, Object value) {
		return codec.decode(codec.encode(value), codec.contentType());
	}

	@Test
	@DisplayName("JSON of one class comes back as that class, and is plain JSON")
	void jsonOfOneClass() {
		JsonObjectCodec codec = JsonObjectCodec.of(PLAIN, Point.class);
		assertThat(copy(codec, new Point(1, 2))).isEqualTo(new Point(1, 2));
		assertThat(codec.encode(new Point(1, 2))).asString().isEqualTo("{\"x\":1,\"y\":2}");
	}

	@Test
	@DisplayName("JSON of one class: another class is refused when it is written, not when it is read")
	void jsonOfAnotherClass() {
		JsonObjectCodec codec = JsonObjectCodec.of(PLAIN, Point.class);
		assertThatIllegalArgumentException().isThrownBy(() -> codec.encode("text"))
			.withMessageContainingAll("Point", "java.lang.String");
	}

	@Test
	@DisplayName("JSON of one type: the elements of a list come back as what they were, and a list of anything is refused")
	void jsonOfOneType() {
		JsonObjectCodec codec = JsonObjectCodec.of(PLAIN, new TypeReference<List<Point>>() {
		});
		assertThat(copy(codec, List.of(new Point(1, 2)))).isEqualTo(List.of(new Point(1, 2)));
		assertThatIllegalArgumentException().isThrownBy(() -> codec.encode("text"))
			.withMessageContainingAll("java.util.List", "java.lang.String");
		assertThatIllegalArgumentException().isThrownBy(() -> JsonObjectCodec.of(PLAIN, List.class))
			.withMessageContaining("TypeReference");
	}

	@Test
	@DisplayName("JSON with names of classes: records, final classes, numbers and lists come back as they were")
	void typedJson() {
		JsonObjectCodec codec = JsonObjectCodec.typed(TYPED);
		assertThat(copy(codec, "text")).isEqualTo("text");
		assertThat(copy(codec, 42)).isEqualTo(42);
		assertThat(copy(codec, new Point(1, 2))).isEqualTo(new Point(1, 2));
		List<Object> points = new ArrayList<>(List.of(new Point(1, 2), "text"));
		assertThat(copy(codec, points)).isEqualTo(points);
		Map<String, Object> map = new LinkedHashMap<>(Map.of("numbers", new ArrayList<>(List.of(1, 2))));
		assertThat(copy(codec, map)).isEqualTo(map);
	}

	@Test
	@DisplayName("JSON with names of classes: a mapper that writes none is refused at the start")
	void typedJsonWithoutTypes() {
		assertThatIllegalArgumentException().isThrownBy(() -> JsonObjectCodec.typed(PLAIN))
			.withMessageContaining("activateDefaultTyping");
	}

	@Test
	@DisplayName("Java: allowed packages, with the usual classes of Java in them, come back")
	void javaOfAllowedPackages() {
		JavaObjectCodec codec = JavaObjectCodec.allowing("io.kvorum.spring");
		List<Object> values = new ArrayList<>(
				List.of("text", 1L, new BigDecimal("1.5"), Instant.EPOCH, new Point(1, 2), new int[0].length));
		assertThat(copy(codec, values)).isEqualTo(values);
		assertThat((byte[]) copy(codec, new byte[] { 1, 2 })).containsExactly(1, 2);
	}

	@Test
	@DisplayName("Java: a class that is not allowed is not read")
	void javaOfOtherPackages() {
		JavaObjectCodec codec = JavaObjectCodec.allowing("com.example");
		byte[] bytes = codec.encode(new Other());
		assertThatExceptionOfType(SerializationFailedException.class)
			.isThrownBy(() -> codec.decode(bytes, codec.contentType()))
			.withMessageContaining("REJECTED");
	}

	@Test
	@DisplayName("Java: what a filter leaves undecided is refused")
	void javaUndecided() {
		JavaObjectCodec codec = JavaObjectCodec.filtered(info -> java.io.ObjectInputFilter.Status.UNDECIDED);
		assertThatExceptionOfType(SerializationFailedException.class).isThrownBy(() -> copy(codec, new Other()));
	}

	@Test
	@DisplayName("Java: a package is a name, not a pattern that could allow all")
	void javaPattern() {
		assertThatIllegalArgumentException().isThrownBy(() -> JavaObjectCodec.allowing("*"));
	}

	@Test
	@DisplayName("a value that another codec has written is refused by its type")
	void otherCodec() {
		JavaObjectCodec java = JavaObjectCodec.allowing("io.kvorum.spring");
		assertThatIllegalArgumentException().isThrownBy(() -> java.decode(new byte[] { '{', '}' }, "application/json"))
			.withMessageContaining("application/json");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> JsonObjectCodec.of(PLAIN, Point.class).decode(new byte[0], java.contentType()));
	}

}
