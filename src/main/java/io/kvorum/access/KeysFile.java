package io.kvorum.access;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads a file of keys, strictly: what is not known, there twice or without an effect is
 * an error, since a right that somebody believes to be there, or not to be there, is one
 * that fails when it is needed. All errors are told at once, by where they are and never
 * by what stands there.
 *
 * <pre>
 * {"keys": [{
 *   "id": "reports",
 *   "sha256": "64 hexadecimal digits",
 *   "expires": "2027-01-01T00:00:00Z",
 *   "rules": [{"prefix": "reports/", "rights": ["read", "range"]},
 *             {"prefix-base64": "/wA=", "rights": ["write"]}],
 *   "actuator": ["metrics"],
 *   "rate": {"per-second": 100, "burst": 200}
 * }]}
 * </pre>
 */
public final class KeysFile {

	/** Limit of the file. */
	public static final int MAX_BYTES = 1 << 20;

	static final int MAX_KEYS = 1000;

	/** Limit of one key. */
	static final int MAX_RULES = 64;

	/** Of an unknown property's name that is told. */
	private static final int MAX_NAME_LENGTH = 40;

	/** More are not told. */
	private static final int MAX_VIOLATIONS = 50;

	private static final JsonMapper JSON = JsonMapper.builder()
		.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
		.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
		.build();

	private final List<String> violations = new ArrayList<>();

	private final long nowNanos;

	private KeysFile(long nowNanos) {
		this.nowNanos = nowNanos;
	}

	/**
	 * Reads the content of a file.
	 * @param nowNanos from when on rates are counted
	 * @throws KeysFileException if it cannot be used
	 */
	public static KeyRing read(byte[] content, long nowNanos) {
		if (content.length > MAX_BYTES) {
			throw new KeysFileException("it has more than %d bytes, the limit".formatted(MAX_BYTES));
		}
		KeysFile file = new KeysFile(nowNanos);
		List<ApiKey> keys = file.keys(tree(content));
		if (!file.violations.isEmpty()) {
			throw new KeysFileException(file.violations);
		}
		return new KeyRing(keys);
	}

	private static JsonNode tree(byte[] content) {
		try {
			return JSON.readTree(content);
		}
		catch (JacksonException ex) {
			// Its message may tell what stands there.
			throw new KeysFileException("it is not JSON, or a property is there twice, at line %d, column %d"
				.formatted(ex.getLocation().getLineNr(), ex.getLocation().getColumnNr()));
		}
	}

	private List<ApiKey> keys(JsonNode root) {
		JsonNode list = object("the file", root, Set.of("keys")) ? root.path("keys") : root;
		List<ApiKey> keys = new ArrayList<>();
		each("keys", list, MAX_KEYS, (where, node) -> {
			ApiKey key = key(where, node);
			if (key != null) {
				keys.add(key);
			}
		});
		Map<String, String> ids = new HashMap<>();
		Map<String, String> hashes = new HashMap<>();
		for (int i = 0; list.isArray() && i < list.size(); i++) {
			refuseAgain(ids, "keys[%d].id".formatted(i), list.get(i).path("id").asString(""));
			refuseAgain(hashes, "keys[%d].sha256".formatted(i),
					list.get(i).path("sha256").asString("").toLowerCase(Locale.ROOT));
		}
		return keys;
	}

	private void refuseAgain(Map<String, String> seen, String where, String value) {
		String first = value.isEmpty() ? null : seen.putIfAbsent(value, where);
		if (first != null) {
			violation(where, "must not be that of %s", first);
		}
	}

	private @Nullable ApiKey key(String where, JsonNode node) {
		if (!object(where, node, Set.of("id", "sha256", "expires", "rules", "actuator", "rate"))) {
			return null;
		}
		String id = node.path("id").asString("");
		if (!node.path("id").isString() || !Credentials.isId(id)) {
			violation(where + ".id", "must be 1 to %d letters, digits, hyphens or underscores",
					Credentials.MAX_ID_LENGTH);
		}
		byte[] hash = hash(where + ".sha256", node.path("sha256"));
		long expires = expires(where + ".expires", node.get("expires"));
		List<Rule> rules = node.has("rules") ? rules(where + ".rules", node.path("rules")) : List.of();
		Set<EndpointRight> endpoints = node.has("actuator")
				? rights(EndpointRight.class, where + ".actuator", node.path("actuator"))
				: EnumSet.noneOf(EndpointRight.class);
		if (!node.has("rules") && !node.has("actuator")) {
			violation(where, "must have 'rules' or 'actuator': without them it may do nothing");
		}
		TokenBucket bucket = node.has("rate") ? bucket(where + ".rate", node.path("rate")) : null;
		return new ApiKey(id, hash, expires, rules, endpoints, bucket);
	}

	private byte[] hash(String where, JsonNode node) {
		try {
			byte[] hash = HexFormat.of().parseHex(node.asString(""));
			if (node.isString() && hash.length == SecretHash.BYTES) {
				return hash;
			}
		}
		catch (IllegalArgumentException _) {
			// as one of another length
		}
		violation(where, "must be the SHA-256 of the secret, %d hexadecimal digits", 2 * SecretHash.BYTES);
		return new byte[SecretHash.BYTES];
	}

	private long expires(String where, @Nullable JsonNode node) {
		if (node == null) {
			return Long.MAX_VALUE;
		}
		try {
			if (node.isString()) {
				return Instant.parse(node.asString()).toEpochMilli();
			}
		}
		catch (DateTimeException | ArithmeticException _) {
			// as another type
		}
		violation(where, "must be an instant such as 2027-01-01T00:00:00Z");
		return 0;
	}

	private List<Rule> rules(String where, JsonNode list) {
		List<Rule> rules = new ArrayList<>();
		each(where, list, MAX_RULES, (at, node) -> {
			Rule rule = rule(at, node);
			if (rule != null) {
				checkAgainst(rules, rule, at);
				rules.add(rule);
			}
		});
		return rules;
	}

	private @Nullable Rule rule(String where, JsonNode node) {
		if (!object(where, node, Set.of("prefix", "prefix-base64", "rights"))) {
			return null;
		}
		if (node.has("prefix") == node.has("prefix-base64")) {
			violation(where, "must have either 'prefix' or 'prefix-base64'");
			return null;
		}
		byte[] bytes = node.has("prefix") ? text(node.path("prefix")) : base64(node.path("prefix-base64"));
		Set<Right> rights = rights(Right.class, where + ".rights", node.path("rights"));
		if (bytes == null || bytes.length > Prefix.MAX_LENGTH_BYTES) {
			violation(where + (node.has("prefix") ? ".prefix" : ".prefix-base64"), "must be %s of at most %d bytes",
					node.has("prefix") ? "text" : "base64", Prefix.MAX_LENGTH_BYTES);
			return null;
		}
		return new Rule(new Prefix(bytes), rights);
	}

	/** What has no effect is not what its writer had in mind. */
	private void checkAgainst(List<Rule> before, Rule rule, String where) {
		for (int i = 0; i < before.size(); i++) {
			Rule other = before.get(i);
			if (other.prefix().isSame(rule.prefix())) {
				violation(where, "has the prefix of rules[%d]: make one of them", i);
			}
			else if (other.includes(rule) || rule.includes(other)) {
				violation(where, "and rules[%d]: one of them has no effect, since the other has its rights and "
						+ "more keys. Remove it", i);
			}
		}
	}

	/** Well-formed UTF-8; null where there is none: half of a character is no text. */
	private static byte @Nullable [] text(JsonNode node) {
		if (!node.isString()) {
			return null;
		}
		try {
			ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(node.asString()));
			byte[] text = new byte[bytes.remaining()];
			bytes.get(text);
			return text;
		}
		catch (CharacterCodingException _) {
			return null;
		}
	}

	private static byte @Nullable [] base64(JsonNode node) {
		try {
			return node.isString() ? Base64.getDecoder().decode(node.asString()) : null;
		}
		catch (IllegalArgumentException _) {
			return null;
		}
	}

	private <R extends Enum<R>> Set<R> rights(Class<R> type, String where, JsonNode list) {
		R[] all = type.getEnumConstants();
		Set<R> rights = EnumSet.noneOf(type);
		each(where, list, all.length, (at, node) -> {
			R named = null;
			for (R right : all) {
				named = (node.isString() && right.name().toLowerCase(Locale.ROOT).equals(node.asString())) ? right
						: named;
			}
			if (named == null) {
				violation(at, "must be one of %s", List.of(all).toString().toLowerCase(Locale.ROOT));
			}
			else if (!rights.add(named)) {
				violation(at, "is there twice");
			}
		});
		return rights;
	}

	private @Nullable TokenBucket bucket(String where, JsonNode node) {
		if (!object(where, node, Set.of("per-second", "burst"))) {
			return null;
		}
		int perSecond = count(where + ".per-second", node.path("per-second"));
		int burst = node.has("burst") ? count(where + ".burst", node.path("burst")) : perSecond;
		return new TokenBucket(new Rate(perSecond, burst), this.nowNanos);
	}

	private int count(String where, JsonNode node) {
		if (node.isInt() && node.asInt() >= 1 && node.asInt() <= Rate.MAX) {
			return node.asInt();
		}
		violation(where, "must be a whole number from 1 to %d", Rate.MAX);
		return 1;
	}

	/** Whether it is an object, which has no other properties than these. */
	private boolean object(String where, JsonNode node, Set<String> known) {
		if (!node.isObject()) {
			violation(where, "must be an object");
			return false;
		}
		node.propertyNames()
			.stream()
			.filter(name -> !known.contains(name))
			.forEach(name -> violation(where, "there is no property '%s'", printable(name)));
		return true;
	}

	private void each(String where, JsonNode list, int max, BiConsumer<String, JsonNode> reader) {
		if (!list.isArray() || list.isEmpty() || list.size() > max) {
			violation(where, "must be a list of 1 to %d", max);
			return;
		}
		for (int i = 0; i < list.size(); i++) {
			reader.accept("%s[%d]".formatted(where, i), list.get(i));
		}
	}

	private static String printable(String name) {
		String plain = name.replaceAll("[^\\x20-\\x7e]", "?");
		return plain.substring(0, Math.min(plain.length(), MAX_NAME_LENGTH));
	}

	@SuppressWarnings("AnnotateFormatMethod") // of a library that is not needed for
												// anything else
	private void violation(String where, String rule, Object... arguments) {
		if (this.violations.size() < MAX_VIOLATIONS) {
			this.violations.add(where + ": " + rule.formatted(arguments));
		}
	}

}
