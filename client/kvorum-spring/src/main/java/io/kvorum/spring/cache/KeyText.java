package io.kvorum.spring.cache;

import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.SimpleKey;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The text of a key. Keys that are not equal have different texts, also if their
 * {@code toString()} is the same.
 * <ul>
 * <li>A string is its own text, with a {@code ~} in front of each <code>~ ( ) ,</code>.
 * So {@code ~} and a letter or a digit begin no string.
 * <li>Any other plain value has its type in front: {@code ~Long:1} is not the string
 * {@code 1}.
 * <li>Several parts are {@code (a,b)}, for Spring's keys of several parameters, or
 * {@code ~List(a,b)}, or {@code ~int[](~Integer:1,~Integer:2)}. Spring's own text does
 * not tell {@code ("a", "b, c")} from {@code ("a, b", "c")}. No parts are {@code ()}, and
 * an empty string as the only part is {@code (~String:)}.
 * </ul>
 */
final class KeyText {

	/**
	 * Types that are told apart by their text. Their subclasses may not be, so these are
	 * the classes themselves.
	 */
	private static final Set<Class<?>> PLAIN = Set.of(Byte.class, Short.class, Integer.class, Long.class, Float.class,
			Double.class, BigInteger.class, BigDecimal.class, Boolean.class, Character.class, UUID.class, URI.class,
			Duration.class, Period.class, Instant.class, LocalDate.class, LocalTime.class, LocalDateTime.class,
			OffsetTime.class, OffsetDateTime.class, ZonedDateTime.class, Year.class, YearMonth.class, MonthDay.class,
			ZoneOffset.class);

	private KeyText() {
	}

	static String of(@Nullable Object key) {
		if (key == null) {
			return "~0";
		}
		if (key instanceof String text) {
			return escaped(text);
		}
		if (key instanceof SimpleKey simple) {
			return parts(SimpleKeys.parts(simple));
		}
		if (key instanceof List<?> list) {
			return "~List" + parts(list);
		}
		if (key.getClass().isArray()) {
			return '~' + key.getClass().getComponentType().getName() + "[]"
					+ parts(Arrays.asList(ObjectUtils.toObjectArray(key)));
		}
		if (key instanceof Enum<?> constant) {
			return typed(constant.getDeclaringClass().getName(), constant.name());
		}
		if (key instanceof ZoneId zone && !(key instanceof ZoneOffset)) {
			return typed("ZoneId", zone.getId());
		}
		if (PLAIN.contains(key.getClass())) {
			return typed(key.getClass().getSimpleName(), key.toString());
		}
		throw new IllegalArgumentException(("keys of %s have no text that is sure to tell one from another: "
				+ "choose another key in the annotation, or give the cache a conversion by KvorumCacheSettings.keys")
			.formatted(key.getClass().getName()));
	}

	private static String typed(String type, String text) {
		return '~' + type + ':' + escaped(text);
	}

	private static String parts(List<?> parts) {
		if (parts.size() == 1 && "".equals(parts.get(0))) {
			// "()" has no parts.
			return "(~String:)";
		}
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
