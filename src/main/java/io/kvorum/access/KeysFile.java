package io.kvorum.access;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads a file of keys strictly: unknown, repeated or ineffective parts are errors.
 * Otherwise a missing right would show only when it is needed, and an excess one never.
 * All errors are reported together, by their place and never by a value.
 * <p>
 * Reads a tree, without data binding. Jackson 3.1 stops at the first value of a wrong
 * type, even if it collects problems, and quotes it. <pre>
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

	public static final int MAX_BYTES = 1 << 20;

	static final int MAX_KEYS = 1000;

	/** Limit for each key. */
	static final int MAX_RULES = 64;

	private static final String PREFIX_LENGTH = "at most %d bytes".formatted(Prefix.MAX_LENGTH_BYTES);

	private static final int HASH_DIGITS = 2 * SecretHash.BYTES;

	private static final Long NEVER = Long.MAX_VALUE;

	private static final JsonMapper JSON = JsonMapper.builder()
		.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
		.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
		.build();

	private final List<ApiKey> keys = new ArrayList<>();

	/** Place of each id in the file. */
	private final Map<String, String> ids = new HashMap<>();

	/** Place of each hash in the file. */
	private final Map<ByteBuffer, String> hashes = new HashMap<>();

	private final long nowNanos;

	private KeysFile(long nowNanos) {
		this.nowNanos = nowNanos;
	}

	/**
	 * Reads the content of a file.
	 * @param nowNanos the time at which all buckets are full
	 * @throws KeysFileException if the content cannot be used
	 */
	public static KeyRing read(byte[] content, long nowNanos) {
		if (content.length > MAX_BYTES) {
			throw new KeysFileException("it has more than %d bytes, the limit".formatted(MAX_BYTES));
		}
		CheckedNode file = new CheckedNode("", tree(content), new ArrayList<>());
		KeysFile reader = new KeysFile(nowNanos);
		if (file.isObjectOf(Set.of("keys"))) {
			file.at("keys").elements(MAX_KEYS).forEach(reader::readKey);
		}
		if (!file.problems().isEmpty()) {
			throw new KeysFileException(file.problems());
		}
		return new KeyRing(reader.keys);
	}

	private static JsonNode tree(byte[] content) {
		try {
			return JSON.readTree(content);
		}
		catch (JacksonException ex) {
			// Its message may quote the content.
			throw new KeysFileException("it is not JSON, or a property is there twice, at line %d, column %d"
				.formatted(ex.getLocation().getLineNr(), ex.getLocation().getColumnNr()));
		}
	}

	private void readKey(CheckedNode node) {
		if (!node.isObjectOf(Set.of("id", "sha256", "expires", "rules", "actuator", "rate"))) {
			return;
		}
		String id = node.at("id")
			.parsed(text -> Credentials.isId(text) ? text : null,
					"must be 1 to %d letters, digits, hyphens or underscores".formatted(Credentials.MAX_ID_LENGTH));
		node.at("id").refuseRepeated(id, this.ids);
		ByteBuffer hash = node.at("sha256")
			.parsed(text -> (text.length() == HASH_DIGITS) ? ByteBuffer.wrap(HexFormat.of().parseHex(text)) : null,
					"must be the SHA-256 of the secret, %d hexadecimal digits".formatted(HASH_DIGITS));
		node.at("sha256").refuseRepeated(hash, this.hashes);
		Long expires = node.has("expires") ? node.at("expires")
			.parsed(text -> Instant.parse(text).toEpochMilli(), "must be an instant such as 2027-01-01T00:00:00Z")
				: NEVER;
		List<Rule> rules = node.has("rules") ? rules(node.at("rules")) : List.of();
		Set<EndpointRight> endpoints = node.has("actuator") ? rights(EndpointRight.class, node.at("actuator"))
				: EnumSet.noneOf(EndpointRight.class);
		if (!node.has("rules") && !node.has("actuator")) {
			node.refuse("must have 'rules' or 'actuator': without them it may do nothing");
		}
		TokenBucket bucket = node.has("rate") ? bucket(node.at("rate")) : null;
		if (id != null && hash != null && expires != null) {
			this.keys.add(new ApiKey(id, hash.array(), expires, rules, endpoints, bucket));
		}
	}

	private List<Rule> rules(CheckedNode list) {
		List<Rule> rules = new ArrayList<>();
		for (CheckedNode element : list.elements(MAX_RULES)) {
			Rule rule = rule(element);
			if (rule != null) {
				refuseWithoutEffect(rule, rules, element);
				rules.add(rule);
			}
		}
		return rules;
	}

	private static @Nullable Rule rule(CheckedNode node) {
		if (!node.isObjectOf(Set.of("prefix", "prefix-base64", "rights"))) {
			return null;
		}
		if (node.has("prefix") == node.has("prefix-base64")) {
			node.refuse("must have either 'prefix' or 'prefix-base64'");
			return null;
		}
		Prefix prefix = node.has("prefix")
				? node.at("prefix").parsed(KeysFile::prefixOfText, "must be text of " + PREFIX_LENGTH)
				: node.at("prefix-base64").parsed(KeysFile::prefixOfBase64, "must be base64 of " + PREFIX_LENGTH);
		Set<Right> rights = rights(Right.class, node.at("rights"));
		return (prefix != null) ? new Rule(prefix, rights) : null;
	}

	/**
	 * Reads a prefix; null if it is too long or has a lone surrogate, which is half of a
	 * character.
	 */
	private static @Nullable Prefix prefixOfText(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		return new String(bytes, StandardCharsets.UTF_8).equals(text) ? prefix(bytes) : null;
	}

	private static @Nullable Prefix prefixOfBase64(String text) {
		return prefix(Base64.getDecoder().decode(text));
	}

	private static @Nullable Prefix prefix(byte[] bytes) {
		return (bytes.length <= Prefix.MAX_LENGTH_BYTES) ? new Prefix(bytes) : null;
	}

	/**
	 * Refuses a rule that has no effect, or that leaves an earlier one without effect.
	 */
	private static void refuseWithoutEffect(Rule rule, List<Rule> before, CheckedNode node) {
		for (int i = 0; i < before.size(); i++) {
			Rule other = before.get(i);
			if (other.prefix().isSame(rule.prefix())) {
				node.refuse("has the prefix of rules[%d]: make one of them".formatted(i));
			}
			else if (other.includes(rule) || rule.includes(other)) {
				node.refuse(
						"and rules[%d]: one of them has no effect, since the other has its rights and more keys. Remove it"
							.formatted(i));
			}
		}
	}

	private static <R extends Enum<R>> Set<R> rights(Class<R> type, CheckedNode list) {
		Map<String, R> named = new LinkedHashMap<>();
		for (R right : type.getEnumConstants()) {
			named.put(right.name().toLowerCase(Locale.ROOT), right);
		}
		Set<R> rights = EnumSet.noneOf(type);
		for (CheckedNode element : list.elements(named.size())) {
			R right = element.parsed(text -> named.get(text), "must be one of " + named.keySet());
			if (right != null && !rights.add(right)) {
				element.refuse("is there twice");
			}
		}
		return rights;
	}

	private @Nullable TokenBucket bucket(CheckedNode node) {
		if (!node.isObjectOf(Set.of("per-second", "burst"))) {
			return null;
		}
		int perSecond = node.at("per-second").count(Rate.MAX);
		int burst = node.has("burst") ? node.at("burst").count(Rate.MAX) : perSecond;
		return new TokenBucket(new Rate(perSecond, burst), this.nowNanos);
	}

}
