package io.kvorum.kv;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The lifetime of a value: 1 second to 10 years of 365 days. */
public record Ttl(Duration duration) {

	public static final Duration MIN = Duration.ofSeconds(1);

	public static final Duration MAX = Duration.ofDays(3650);

	private static final Pattern SIMPLE = Pattern.compile("([0-9]{1,9})([smhd])");

	public Ttl {
		if (duration.compareTo(MIN) < 0 || duration.compareTo(MAX) > 0) {
			throw new IllegalArgumentException("a ttl is 1 second to 3650 days");
		}
	}

	/**
	 * Reads {@code 30s}, {@code 15m}, {@code 12h}, {@code 7d} or ISO 8601
	 * ({@code PT30S}).
	 * @throws IllegalArgumentException if it has another form or is out of bounds; the
	 * message says what is allowed
	 */
	public static Ttl parse(String text) {
		Matcher simple = SIMPLE.matcher(text);
		return new Ttl(simple.matches() ? simple(Long.parseLong(simple.group(1)), simple.group(2)) : iso(text));
	}

	private static Duration simple(long amount, String unit) {
		return switch (unit) {
			case "s" -> Duration.ofSeconds(amount);
			case "m" -> Duration.ofMinutes(amount);
			case "h" -> Duration.ofHours(amount);
			default -> Duration.ofDays(amount);
		};
	}

	private static Duration iso(String text) {
		try {
			return Duration.parse(text);
		}
		catch (DateTimeParseException ex) {
			throw new IllegalArgumentException(
					"a ttl is a number with a unit (30s, 15m, 12h, 7d) or an ISO 8601 duration (PT30S)", ex);
		}
	}

	/** The expiry of a value written at {@code millis}; both in ms since 1970. */
	public long expiresAtMillis(long millis) {
		return millis + this.duration.toMillis();
	}

}
