package io.kvorum.access;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

import io.kvorum.kv.Key;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class KeysFileTests {

	private static final String RULES = "\"rules\":[{\"prefix\":\"a/\",\"rights\":[\"read\"]}]";

	private static ApiKey read(String more) {
		ApiKey key = KeysFile.read(KeysFiles.file(KeysFiles.key("a", KeysFiles.SECRET, more)), 0).find("a");
		return Objects.requireNonNull(key);
	}

	private static void assertRefused(byte[] content, String... told) {
		assertThatExceptionOfType(KeysFileException.class).isThrownBy(() -> KeysFile.read(content, 0))
			.satisfies(ex -> assertThat(List.of(told)).allSatisfy(it -> assertThat(ex.getMessage()).contains(it)));
	}

	private static void assertKeyRefused(String more, String told) {
		assertRefused(KeysFiles.file(KeysFiles.key("a", KeysFiles.SECRET, more)), told);
	}

	@Test
	void theRightsOfAKeyAreTheUnionOfItsRules() {
		ApiKey key = read("""
				"rules":[{"prefix":"a/","rights":["read"]},{"prefix":"a/b/","rights":["write","delete"]},
				{"prefix-base64":"/wA=","rights":["read"]}]""");

		assertThat(key.may(Right.READ, Generator.key("a/c"))).isTrue();
		assertThat(key.may(Right.READ, Generator.key("a/b/c"))).isTrue();
		assertThat(key.may(Right.WRITE, Generator.key("a/b/c"))).isTrue();
		assertThat(key.may(Right.WRITE, Generator.key("a/c"))).isFalse();
		assertThat(key.may(Right.READ, Generator.key("b"))).isFalse();
		assertThat(key.may(Right.READ, Key.of(new byte[] { -1, 0, 7 }))).isTrue();
		assertThat(key.may(Right.READ, Key.of(new byte[] { -1, 1 }))).isFalse();
		assertThat(key.may(EndpointRight.METRICS)).isFalse();
	}

	@Test
	void aPrefixIsTheUtf8OfItsText() {
		ApiKey key = read("\"rules\":[{\"prefix\":\"\u00e9\",\"rights\":[\"read\"]}]");

		assertThat(key.may(Right.READ, Key.of(new byte[] { (byte) 0xc3, (byte) 0xa9 }))).isTrue();
		assertThat(key.may(Right.READ, Key.of(new byte[] { (byte) 0xe9 }))).isFalse();
	}

	@Test
	void aKeyForEndpointsNeedsNoRules() {
		assertThat(read("\"actuator\":[\"metrics\"]").may(EndpointRight.METRICS)).isTrue();
		assertThat(read("\"actuator\":[\"metrics\"]").may(EndpointRight.OPERATE)).isFalse();
	}

	@Test
	void theBurstIsTheRateWhereItIsNotSaid() {
		assertThat(read(RULES + ",\"rate\":{\"per-second\":7}").bucket()).isNotNull()
			.extracting(TokenBucket::rate)
			.isEqualTo(new Rate(7, 7));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					"rules":[]                                                    | keys[0].rules: must be a list of 1 to 64
					"rules":{}                                                    | keys[0].rules: must be a list of 1 to 64
					"rules":[1]                                                   | keys[0].rules[0]: must be an object
					"rules":[{"prefix":"a"}]                                      | keys[0].rules[0].rights: must be a list of 1 to 4
					"rules":[{"prefix":"a","rights":[]}]                          | keys[0].rules[0].rights: must be a list of 1 to 4
					"rules":[{"prefix":"a","rights":["raed"]}]                    | keys[0].rules[0].rights[0]: must be one of [read, write, delete, range]
					"rules":[{"prefix":"a","rights":["READ"]}]                    | keys[0].rules[0].rights[0]: must be one of [read, write, delete, range]
					"rules":[{"prefix":"a","rights":["read","read"]}]             | keys[0].rules[0].rights[1]: is there twice
					"rules":[{"rights":["read"]}]                                 | keys[0].rules[0]: must have either 'prefix' or 'prefix-base64'
					"rules":[{"prefix":"a","prefix-base64":"YQ==","rights":["read"]}] | keys[0].rules[0]: must have either 'prefix' or 'prefix-base64'
					"rules":[{"prefix":1,"rights":["read"]}]                      | keys[0].rules[0].prefix: must be text of at most 1024 bytes
					"rules":[{"prefix":"a\\ud800","rights":["read"]}]             | keys[0].rules[0].prefix: must be text of at most 1024 bytes
					"rules":[{"prefix-base64":"*","rights":["read"]}]             | keys[0].rules[0].prefix-base64: must be base64 of at most 1024 bytes
					"rules":[{"prefix":"a","rights":["read"]},{"prefix":"a","rights":["write"]}] | keys[0].rules[1]: has the prefix of rules[0]: make one of them
					"rules":[{"prefix":"a","rights":["read","write"]},{"prefix":"ab","rights":["read"]}] | keys[0].rules[1]: and rules[0]: one of them has no effect
					"rules":[{"prefix":"ab","rights":["read"]},{"prefix":"","rights":["read"]}] | keys[0].rules[1]: and rules[0]: one of them has no effect
					"rules":[{"prefix":"a","rights":["read"],"right":1}]          | keys[0].rules[0]: there is no property 'right'
					"actuator":["admin"]                                          | keys[0].actuator[0]: must be one of [metrics, operate]
					"expires":"2027-01-01T00:00:00Z"                              | keys[0]: must have 'rules' or 'actuator'
					"expires":"2027-01-01"                                        | keys[0].expires: must be an instant
					"expires":1800000000                                          | keys[0].expires: must be an instant
					"expires":null                                                | keys[0].expires: must be an instant
					"rate":{}                                                     | keys[0].rate.per-second: must be a whole number from 1 to 1000000
					"rate":{"per-second":0}                                       | keys[0].rate.per-second: must be a whole number from 1 to 1000000
					"rate":{"per-second":0.5}                                     | keys[0].rate.per-second: must be a whole number from 1 to 1000000
					"rate":{"per-second":1000001}                                 | keys[0].rate.per-second: must be a whole number from 1 to 1000000
					"rate":{"per-second":1,"burst":0}                             | keys[0].rate.burst: must be a whole number from 1 to 1000000
					"secret":"x"                                                  | keys[0]: there is no property 'secret'
					""")
	void whatIsWrongWithAKeyIsToldByWhereItIs(String more, String told) {
		assertKeyRefused(more, told);
	}

	@Test
	void aPrefixHasAtMostAsManyBytesAsAKey() {
		String longest = "a".repeat(Prefix.MAX_LENGTH_BYTES);
		assertThat(read("\"rules\":[{\"prefix\":\"%s\",\"rights\":[\"read\"]}]".formatted(longest)).may(Right.READ,
				Generator.key(longest)))
			.isTrue();
		assertKeyRefused("\"rules\":[{\"prefix\":\"%sa\",\"rights\":[\"read\"]}]".formatted(longest),
				"rules[0].prefix");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "[]", "{", "{}", "{\"keys\":{}}", "{\"keys\":{\"id\":\"a\"}}", "{\"keys\":[]}",
			"{\"keys\":[1]}", "null", "{\"keys\":[],\"keys\":[]}", "{\"keys\":[]} x", "\u0000" })
	void whatIsNoFileOfKeysIsRefused(String content) {
		assertRefused(content.getBytes(StandardCharsets.UTF_8));
	}

	@Test
	void allThatIsWrongIsToldAtOnce() {
		assertRefused("""
				{"kyes": [], "keys": [{"id": "a b", "sha256": "12"}, {"rules": 1}]}""".getBytes(StandardCharsets.UTF_8),
				"the file: there is no property 'kyes'", "keys[0].id: must be 1 to 64 letters",
				"keys[0].sha256: must be the SHA-256", "keys[0]: must have 'rules' or 'actuator'", "keys[1].id",
				"keys[1].sha256", "keys[1].rules");
	}

	@Test
	void twoKeysHaveNeitherOneIdNorOneSecret() {
		String other = KeysFiles.SECRET.replace('a', 'b');
		assertRefused(
				KeysFiles.file(KeysFiles.key("a", KeysFiles.SECRET, RULES), KeysFiles.key("a", other, RULES),
						KeysFiles.key("b", KeysFiles.SECRET, RULES)),
				"keys[1].id: must not be that of keys[0].id", "keys[2].sha256: must not be that of keys[0].sha256");
	}

	@Test
	void nothingThatStandsThereIsTold() {
		String secret = "my-secret";
		byte[] wrong = """
				{"keys":[{"id":"a.%1$s","sha256":"%1$s","expires":"%1$s","actuator":["%1$s"],
				"rules":[{"prefix-base64":"%1$s","rights":["%1$s"]}],"rate":{"per-second":"%1$s"}}]}"""
			.formatted(secret)
			.getBytes(StandardCharsets.UTF_8);
		assertThatExceptionOfType(KeysFileException.class).isThrownBy(() -> KeysFile.read(wrong, 0))
			.satisfies(ex -> assertThat(ex.getMessage()).doesNotContain(secret).contains("keys[0].id"));
		byte[] broken = "{\"keys\":[{\"id\":%s".formatted(secret).getBytes(StandardCharsets.UTF_8);
		assertThatExceptionOfType(KeysFileException.class).isThrownBy(() -> KeysFile.read(broken, 0))
			.satisfies(ex -> assertThat(ex.getMessage()).doesNotContain("my").contains("line 1, column"));
	}

	@Test
	void aFileHasALimit() {
		byte[] spaces = " ".repeat(KeysFile.MAX_BYTES + 1).getBytes(StandardCharsets.UTF_8);
		assertRefused(spaces, "more than 1048576 bytes");
	}

	@Test
	void aFileHasAtMostAThousandKeys() {
		String[] keys = new String[KeysFile.MAX_KEYS + 1];
		for (int i = 0; i < keys.length; i++) {
			keys[i] = KeysFiles.key("k" + i, KeysFiles.SECRET.substring(4) + "%04d".formatted(i), RULES);
		}
		assertRefused(KeysFiles.file(keys), "keys: must be a list of 1 to 1000");
	}

}
