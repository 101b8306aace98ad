package io.kvorum.spring.cache;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.CharBuffer;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.cache.interceptor.SimpleKey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@DisplayName("The text of a key")
class KeyTextTests {

	@Test
	@DisplayName("is a string itself, and of a plain value its type and its text")
	void plain() {
		UUID uuid = new UUID(1, 2);
		assertThat(KeyText.of("orders/42")).isEqualTo("orders/42");
		assertThat(KeyText.of(42L)).isEqualTo("~Long:42");
		assertThat(KeyText.of(uuid)).isEqualTo("~UUID:" + uuid);
		assertThat(KeyText.of(DayOfWeek.FRIDAY)).isEqualTo("~java.time.DayOfWeek:FRIDAY");
		assertThat(KeyText.of(TimeUnit.DAYS)).isEqualTo("~java.util.concurrent.TimeUnit:DAYS");
		assertThat(KeyText.of(ZoneId.of("Europe/Vienna"))).isEqualTo("~ZoneId:Europe/Vienna");
	}

	@Test
	@DisplayName("is that of all parts, of which some may be null")
	void parts() {
		assertThat(KeyText.of(SimpleKey.EMPTY)).isEqualTo("()");
		assertThat(KeyText.of(new SimpleKey("a", 1))).isEqualTo("(a,~Integer:1)");
		assertThat(KeyText.of(new SimpleKey("a", null))).isEqualTo("(a,~0)");
		assertThat(KeyText.of(List.of("a", List.of("b", "c")))).isEqualTo("~List(a,~List(b,c))");
		assertThat(KeyText.of(new int[] { 1, 2 })).isEqualTo("~int[](~Integer:1,~Integer:2)");
	}

	@Test
	@DisplayName("differs for keys of different types that print the same")
	void types() {
		List<Object> keys = List.of("1", 1, 1L, (short) 1, (byte) 1, '1', BigInteger.ONE, BigDecimal.ONE, 1.0, 1.0f,
				"1.0", new BigDecimal("1.0"), "true", true, "DAYS", TimeUnit.DAYS, ChronoUnit.DAYS, "a", 'a',
				List.of("a"), new SimpleKey("a"), new String[] { "a" }, new Object[] { "a" }, new char[] { 'a' },
				new Character[] { 'a' }, new SimpleKey(), List.of(), new Object[0], "()", "~List()", List.of(""),
				new SimpleKey(""), new Object[] { "" }, List.of("", ""), List.of(","), "(~String:)", "~Long:1", "~0",
				new SimpleKey("~Long:1"), new SimpleKey(1L), new SimpleKey(List.of("a", "b")), new SimpleKey("a", "b"),
				List.of(List.of("a"), "b"), List.of(List.of("a", "b")), List.of("a", "b"), "a,b", "(a,b)", "~",
				Duration.ZERO, Period.ZERO, "PT0S", ZoneOffset.UTC, "Z", ZoneId.of("UTC"), Instant.EPOCH,
				OffsetDateTime.parse("1970-01-01T00:00Z"), ZonedDateTime.parse("1970-01-01T00:00Z"));
		Map<String, Object> byText = new HashMap<>();
		for (Object key : keys) {
			Object same = byText.putIfAbsent(KeyText.of(key), key);
			assertThat(same == null || same.equals(key)).as("%s and %s", same, key).isTrue();
		}
	}

	@Test
	@DisplayName("differs for keys that Spring writes as the same text")
	void ambiguous() {
		SimpleKey first = new SimpleKey("a", "b, c");
		SimpleKey second = new SimpleKey("a, b", "c");
		assertThat(first).hasToString(second.toString());
		assertThat(List.of(KeyText.of(first), KeyText.of(second), KeyText.of("(a,b, c)"), KeyText.of("a,b, c")))
			.doesNotHaveDuplicates();
		assertThat(KeyText.of("~0")).isNotEqualTo(KeyText.of(null));
		assertThat(KeyText.of(List.of("a~", "b"))).isNotEqualTo(KeyText.of(List.of("a", "~b")));
	}

	@Test
	@DisplayName("is not made of classes whose text may be equal for other keys")
	void unknown() {
		List<Object> keys = List.of(new Object(), CharBuffer.wrap("a"), new AtomicInteger(1), Locale.ROOT, Set.of("a"),
				Map.of("a", "b"), Optional.of("a"), new BigDecimal("1") {
					private static final long serialVersionUID = 1;

				});
		for (Object key : keys) {
			assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(key))
				.withMessageContainingAll(key.getClass().getName(), "KvorumCacheSettings.keys");
			assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(new SimpleKey("a", key)));
		}
	}

	@Test
	@DisplayName("is hashed if the key of Kvorum would be too long; short ones never look like that")
	void hashed() {
		CacheKeys keys = new CacheKeys("cache/", "a/b");
		assertThat(keys.key("x")).isEqualTo("cache/a%2Fb/x");
		String longest = "x".repeat(1024 - keys.folder().length());
		assertThat(keys.key(longest)).isEqualTo(keys.folder() + longest);
		assertThat(keys.key(longest + 'y')).hasSize(keys.folder().length() + 72)
			.startsWith("cache/a%2Fb/~sha256:")
			.isNotEqualTo(keys.key(longest + 'z'));
		assertThat(KeyText.of("~sha256:1")).startsWith("~~");
		String hashed = keys.key(longest + 'y').substring(keys.folder().length());
		assertThat(keys.key(hashed)).isNotEqualTo(keys.key(longest + 'y'));
		assertThatIllegalArgumentException().isThrownBy(() -> keys.key("\ud800".repeat(1024)));
	}

	@Test
	@DisplayName("has no room behind a name of 1 KB")
	void longName() {
		assertThatIllegalArgumentException().isThrownBy(() -> new CacheKeys("cache/", "n".repeat(1000)))
			.withMessageContaining("952");
	}

}
