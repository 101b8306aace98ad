package io.kvorum.coordination;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

import io.kvorum.coordination.RequestRecord.State;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.RequestDigest;
import io.kvorum.operation.WriteOptions;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RequestRecordTests {

	private static final RequestDigest DIGEST = new RequestDigest(1, -2);

	private static final Version FIRST = new Version(3, 4);

	private static final Version SECOND = new Version(5, -6);

	@Test
	void aRecordIsReadAsItWasWritten() {
		for (State state : State.values()) {
			for (List<Version> ballots : List.of(List.<Version>of(), List.of(FIRST), List.of(FIRST, SECOND))) {
				RequestRecord record = new RequestRecord(DIGEST, state, FIRST, ballots);
				assertThat(RequestRecord.of(record.toValue())).isEqualTo(record);
			}
		}
	}

	@Test
	void itsBytesStayAsTheyAre() {
		RequestRecord record = new RequestRecord(DIGEST, State.NOT_MET, Version.ABSENT, List.of(SECOND));
		assertThat(record.toValue().array()).asHexString()
			.isEqualTo("0102" + "0000000000000001" + "FFFFFFFFFFFFFFFE" + "00".repeat(16) + "0000000000000005"
					+ "FFFFFFFFFFFFFFFA");
		assertThat(record.current()).isNull();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 33, 35 })
	void anotherLengthIsRefused(int length) {
		assertThatIllegalArgumentException().isThrownBy(() -> RequestRecord.of(Value.of(new byte[length])))
			.withMessageContaining("length of " + length);
	}

	@Test
	void anotherFormatIsRefused() {
		byte[] bytes = new RequestRecord(DIGEST, State.APPLIED, FIRST, List.of()).toValue().array();
		bytes[0] = 2;
		assertThatIllegalArgumentException().isThrownBy(() -> RequestRecord.of(Value.of(bytes)))
			.withMessageContaining("format 2");
		bytes[0] = 1;
		bytes[1] = 3;
		assertThatIllegalArgumentException().isThrownBy(() -> RequestRecord.of(Value.of(bytes)))
			.withMessageContaining("state 3");
	}

	@Test
	void itsKeyIsBehindThoseOfAllClientsAndBelongsToOneCaller() {
		Key key = RequestRecord.keyOf(new IdempotencyKey("one", "name"));
		assertThat(key).isGreaterThan(Generator.key("\uDBFF\uDFFF"));
		assertThat(InternalKeys.isRequest(key)).isTrue();
		assertThat(InternalKeys.requests().contains(key)).isTrue();
		assertThat(KeyRange.all().ofClients().contains(key)).isFalse();
		assertThat(key).isNotEqualTo(RequestRecord.keyOf(new IdempotencyKey("on", "ename")));
		assertThat(InternalKeys.isInternal(Generator.key("key"))).isFalse();
	}

	@Test
	void theDigestTellsAllThatAClientCanSayApart() {
		Key key = Generator.key("key");
		WriteOptions plain = WriteOptions.of(new Replicas(2, 3));
		Value value = value("value");
		assertThat(List.of(RequestDigest.ofPut(key, plain, "a", value, null),
				RequestDigest.ofPut(key, plain, "av", value("alue"), null),
				RequestDigest.ofPut(Generator.key("keya"), plain, "", value, null),
				RequestDigest.ofPut(key, WriteOptions.of(new Replicas(3, 3)), "a", value, null),
				RequestDigest.ofPut(key, matching(FIRST), "a", value, null),
				RequestDigest.ofPut(key, matching(FIRST, SECOND), "a", value, null), RequestDigest.ofPut(key,
						WriteOptions.of(new Replicas(2, 3), new Condition(null, Tags.ANY)), "a", value, null),
				RequestDigest.ofDelete(key, plain)))
			.doesNotHaveDuplicates();
		assertThat(RequestDigest.ofPut(key, matching(FIRST, SECOND), "a", value, null))
			.isEqualTo(RequestDigest.ofPut(key, matching(SECOND, FIRST), "a", value, null));
	}

	private static Value value(String text) {
		return Value.of(text.getBytes(StandardCharsets.UTF_8));
	}

	private static WriteOptions matching(Version... versions) {
		return WriteOptions.of(new Replicas(2, 3), new Condition(new Tags(false, Set.of(versions)), null));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "two words", "tab\t", "ü", "\u007f" })
	void aNameHasVisibleCharactersOnly(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> new IdempotencyKey("", name))
			.withMessageContaining("1 to 128 visible ASCII");
	}

	@Test
	void aNameHasALimit() {
		assertThat(new IdempotencyKey("", "x".repeat(128)).name()).hasSize(128);
		assertThatIllegalArgumentException().isThrownBy(() -> new IdempotencyKey("", "x".repeat(129)));
	}

}
