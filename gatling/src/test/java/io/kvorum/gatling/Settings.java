package io.kvorum.gatling;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Settings of a run: system properties ({@code load.rate}), else environment variables
 * ({@code LOAD_RATE}), else defaults.
 *
 * @param nodes the base URLs, without a slash at the end; users take turns at them
 * @param rate users that arrive each second; a fraction is allowed
 * @param ramp in which the rate grows from nothing, before {@code duration} begins
 * @param duration of the full rate
 * @param keys of each set that is loaded before the users arrive
 * @param valueBytes the size of every value
 * @param replicas sent with every request for an entity; none: the default of the nodes
 * @param maxFailed how many of a hundred requests may fail
 * @param seed of what is chosen at random
 */
record Settings(List<String> nodes, double rate, Duration ramp, Duration duration, int keys, int valueBytes,
		Optional<Replicas> replicas, double maxFailed, long seed) {

	private static final Map<String, String> DEFAULTS = Map.of("urls", "http://localhost:8080", "rate", "100", "ramp",
			"5s", "duration", "30s", "keys", "10000", "value-bytes", "100", "replicas", "", "max-failed", "0", "seed",
			"1");

	static Settings read() {
		return read(Map.of());
	}

	/**
	 * Reads all of them.
	 * @param defaults that differ from the usual ones
	 * @throws CannotRunException naming all that are wrong
	 */
	static Settings read(Map<String, String> defaults) {
		Reader reader = new Reader(defaults);
		Settings settings = new Settings(
				reader.read("urls", Settings::urls, urls -> true,
						"http://host:port without a path, several with commas in between"),
				reader.read("rate", Double::valueOf, rate -> rate > 0 && rate <= 1_000_000,
						"users a second, more than 0 and at most 1000000"),
				reader.read("ramp", Settings::duration, ramp -> true, "a duration, 5s for example, or 0s"),
				reader.read("duration", Settings::duration, Duration::isPositive,
						"a duration, 500ms, 30s, 10m or 1h for example"),
				reader.read("keys", Integer::valueOf, keys -> keys >= 1 && keys <= 10_000_000,
						"a number from 1 to 10000000"),
				reader.read("value-bytes", Integer::valueOf, bytes -> bytes >= Values.MIN_BYTES && bytes <= 64 << 20,
						"a number from " + Values.MIN_BYTES + " to " + (64 << 20)),
				reader.read("replicas", Replicas::parse, replicas -> true,
						"<ack>/<from>, 1 <= ack <= from, or nothing"),
				reader.read("max-failed", Double::valueOf, percent -> percent >= 0 && percent < 100,
						"percent, from 0 to less than 100"),
				reader.read("seed", Long::valueOf, seed -> true, "a whole number"));
		reader.complain();
		return settings;
	}

	private static List<String> urls(String text) {
		return Stream.of(text.split(",")).map(String::strip).map(Settings::url).toList();
	}

	private static String url(String text) {
		URI uri = URI.create(text);
		// Without a host, as in localhost:8080, a URI has no path either.
		boolean isServer = "http".equals(uri.getScheme()) && uri.getHost() != null;
		if (!isServer || !uri.getRawPath().matches("/?") || uri.getRawQuery() != null || uri.getRawFragment() != null) {
			throw new IllegalArgumentException(text);
		}
		return "http://" + uri.getRawAuthority();
	}

	private static Duration duration(String text) {
		Matcher matcher = Pattern.compile("(\\d{1,9})(ms|s|m|h)").matcher(text);
		if (!matcher.matches()) {
			throw new IllegalArgumentException(text);
		}
		long amount = Long.parseLong(matcher.group(1));
		return switch (matcher.group(2)) {
			case "ms" -> Duration.ofMillis(amount);
			case "s" -> Duration.ofSeconds(amount);
			case "m" -> Duration.ofMinutes(amount);
			default -> Duration.ofHours(amount);
		};
	}

	/**
	 * For a simulation that reads what it wrote.
	 * @throws CannotRunException where {@link #replicas} promise it nothing
	 */
	void requireReadsToSeeWrites(String simulation) {
		if (!this.replicas.map(Replicas::overlap).orElse(true)) {
			throw new CannotRunException("%s reads what it wrote, and with load.replicas=%s it may miss it: %s"
				.formatted(simulation, this.replicas.orElseThrow(), "more than half of <from> must be waited for"));
		}
	}

	/** How many replicas a request waits for, and of how many. */
	record Replicas(int ack, int from) {

		static Optional<Replicas> parse(String text) {
			if (text.isEmpty()) {
				return Optional.empty();
			}
			Matcher matcher = Pattern.compile("(\\d{1,3})/(\\d{1,3})").matcher(text);
			if (!matcher.matches()) {
				throw new IllegalArgumentException(text);
			}
			Replicas replicas = new Replicas(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
			if (replicas.ack < 1 || replicas.ack > replicas.from) {
				throw new IllegalArgumentException(text);
			}
			return Optional.of(replicas);
		}

		/**
		 * Whether the replicas of a read and those of a write have one in common.
		 */
		boolean overlap() {
			return 2 * this.ack > this.from;
		}

		/** Waits for all of them, so that any read finds the value. */
		Replicas all() {
			return new Replicas(this.from, this.from);
		}

		@Override
		public String toString() {
			return this.ack + "/" + this.from;
		}

	}

	private static final class Reader {

		private final Map<String, String> defaults;

		private final List<String> violations = new ArrayList<>();

		private Reader(Map<String, String> defaults) {
			this.defaults = defaults;
		}

		private <T> T read(String name, Function<String, T> parse, Predicate<T> isAllowed, String allowed) {
			String fallback = this.defaults.getOrDefault(name, DEFAULTS.get(name));
			String variable = "LOAD_" + name.replace('-', '_').toUpperCase(Locale.ROOT);
			String text = System.getProperty("load." + name, System.getenv().getOrDefault(variable, fallback)).strip();
			try {
				T value = parse.apply(text);
				if (isAllowed.test(value)) {
					return value;
				}
			}
			catch (IllegalArgumentException ex) {
				// Reported below, with what to do.
			}
			this.violations.add("load.%s (%s) is \"%s\", and has to be %s".formatted(name, variable, text, allowed));
			return parse.apply(fallback);
		}

		private void complain() {
			if (!this.violations.isEmpty()) {
				throw new CannotRunException("wrong settings:\n  " + String.join("\n  ", this.violations));
			}
		}

	}

}
