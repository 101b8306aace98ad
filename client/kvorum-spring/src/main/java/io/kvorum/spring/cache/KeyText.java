package io.kvorum.spring.cache;

import java.lang.reflect.Field;
import java.net.URI;
import java.time.Duration;
import java.time.Period;
import java.time.ZoneId;
import java.time.temporal.TemporalAccessor;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.SimpleKey;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The text of a key. Keys of several parts are {@code (a,b)}. Characters that have a
 * meaning there have a {@code ~} in front, so that no text of a user becomes the key of
 * another: {@code toString()} of Spring's keys does not tell {@code ("a", "b, c")} from
 * {@code ("a, b", "c")}.
 */
final class KeyText {

	private static final List<Class<?>> PLAIN = List.of(CharSequence.class, Number.class, Boolean.class,
			Character.class, UUID.class, URI.class, TemporalAccessor.class, Duration.class, Period.class, ZoneId.class);

	private KeyText() {
	}

	static String of(@Nullable Object key) {
		if (key == null) {
			return "~0";
		}
		if (key instanceof SimpleKey simple) {
			return parts(SimpleKeys.parts(simple));
		}
		if (key instanceof List<?> list) {
			return parts(list);
		}
		if (key.getClass().isArray()) {
			return parts(Arrays.asList(ObjectUtils.toObjectArray(key)));
		}
		if (key instanceof Enum<?> constant) {
			return escaped(constant.name());
		}
		if (PLAIN.stream().anyMatch(type -> type.isInstance(key))) {
			return escaped(key.toString());
		}
		throw new IllegalArgumentException(("keys of %s have no text that is sure to tell one from another: "
				+ "choose another key in the annotation, or give the cache a conversion by KvorumCacheSettings.keys")
			.formatted(key.getClass().getName()));
	}

	private static String parts(List<?> parts) {
		return parts.stream().map(KeyText::of).collect(Collectors.joining(",", "(", ")"));
	}

	private static String escaped(String text) {
		return text.replace("~", "~~").replace("(", "~(").replace(")", "~)").replace(",", "~,");
	}

	/**
	 * Loaded only for keys of several parameters: there is no public way to their parts.
	 */
	private static final class SimpleKeys {

		private static final Field PARTS = Objects.requireNonNull(ReflectionUtils.findField(SimpleKey.class, "params"));

		static {
			ReflectionUtils.makeAccessible(PARTS);
		}

		static List<@Nullable Object> parts(SimpleKey key) {
			return Arrays.asList((@Nullable Object[]) Objects.requireNonNull(ReflectionUtils.getField(PARTS, key)));
		}

	}

}
