package io.kvorum.replication;

import java.util.Arrays;
import java.util.HexFormat;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class KeyHeadTests {

	private static final Key KEY = Generator.key("key");

	private static final Version BALLOT = new Version(2, 1);

	private static final Version HIGHER = new Version(3, 1);

	@Test
	void anAnswerHasTheSameBytesAsEver() {
		Entry entry = new Tombstone(BALLOT, 1).under(BALLOT, Lineage.of(BALLOT, true, null));

		assertThat(HexFormat.of().formatHex(KeyHead.of(HIGHER, entry).toAnswer(KEY).bytes()))
			.isEqualTo("00000000000000030000000000000001"
					+ "0200000000000000020000000000000001d535286d05010009000000000000000200000000000000010000000000000000"
					+ "0000000000000000");
		assertThat(HexFormat.of().formatHex(KeyHead.query(KEY).toBytes())).isEqualTo("086b6579");
	}

	@Test
	void whatIsAnsweredIsReadWithoutTheValue() {
		Generator generator = new Generator(1);
		for (int i = 0; i < 1000; i++) {
			Version version = generator.closeVersion();
			Entry stored = generator.chance(50) ? generator.entryUnderBallot(version) : generator.entry(version);
			KeyHead head = KeyHead.of(generator.closeVersion(), generator.chance(10) ? null : stored);
			byte[] answer = head.toAnswer(KEY).bytes();

			assertThat(KeyHead.read(KEY, answer)).isEqualTo(head);
			assertThat(answer.length).isLessThan(600);
		}
	}

	@Test
	void anEntryUnderABallotIsAPromiseUnlessAHigherOneIsBesideIt() {
		Entry entry = Generator.live(BALLOT, "value");
		Entry under = entry.under(BALLOT, new Generator(1).lineage());

		assertThat(KeyHead.of(Version.ABSENT, entry).promise()).isEqualTo(Version.ABSENT);
		assertThat(KeyHead.of(Version.ABSENT, under).promise()).isEqualTo(BALLOT);
		assertThat(KeyHead.of(HIGHER, under).promise()).isEqualTo(HIGHER);
		assertThat(KeyHead.of(HIGHER, null).promise()).isEqualTo(HIGHER);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 15, 17, 40 })
	void whatIsCutOffIsNoAnswer(int length) {
		byte[] answer = KeyHead.of(HIGHER, Generator.live(BALLOT, "value")).toAnswer(KEY).bytes();

		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> KeyHead.read(KEY, Arrays.copyOf(answer, length)));
	}

}
