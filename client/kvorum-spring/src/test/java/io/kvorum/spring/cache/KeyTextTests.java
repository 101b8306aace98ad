package io.kvorum.spring.cache;

import java.time.DayOfWeek;
import java.util.List;
import java.util.UUID;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.cache.interceptor.SimpleKey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@DisplayName("The text of a key")
class KeyTextTests {

	@Test
	@DisplayName("is that of a plain value")
	void plain() {
		UUID uuid = new UUID(1, 2);
		assertThat(KeyText.of("orders/42")).isEqualTo("orders/42");
		assertThat(KeyText.of(42L)).isEqualTo("42");
		assertThat(KeyText.of(uuid)).isEqualTo(uuid.toString());
		assertThat(KeyText.of(DayOfWeek.FRIDAY)).isEqualTo("FRIDAY");
	}

	@Test
	@DisplayName("is that of all parts, of which some may be null")
	void parts() {
		assertThat(KeyText.of(SimpleKey.EMPTY)).isEqualTo("()");
		assertThat(KeyText.of(new SimpleKey("a", 1))).isEqualTo("(a,1)");
		assertThat(KeyText.of(new SimpleKey("a", null))).isEqualTo("(a,~0)");
		assertThat(KeyText.of(List.of("a", List.of(1, 2)))).isEqualTo("(a,(1,2))");
		assertThat(KeyText.of(new int[] { 1, 2 })).isEqualTo("(1,2)");
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
		assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(new Object()))
			.withMessageContainingAll("java.lang.Object", "KvorumCacheSettings.keys");
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
		assertThatIllegalArgumentException().isThrownBy(() -> keys.key("\ud800".repeat(1024)));
	}

	@Test
	@DisplayName("has no room behind a name of 1 KB")
	void longName() {
		assertThatIllegalArgumentException().isThrownBy(() -> new CacheKeys("cache/", "n".repeat(1000)))
			.withMessageContaining("952");
	}

}
