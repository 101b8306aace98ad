package io.kvorum.spring.codec;

import java.util.Locale;

/** Refuses values that another codec has written. */
final class ContentTypes {

	private ContentTypes() {
	}

	static void check(String expected, String actual) {
		if (!actual.toLowerCase(Locale.ROOT).startsWith(expected)) {
			throw new IllegalArgumentException(
					"the value was written as %s by another codec; this one reads %s".formatted(actual, expected));
		}
	}

}
