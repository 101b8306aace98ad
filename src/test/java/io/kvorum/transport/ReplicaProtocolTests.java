package io.kvorum.transport;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ReplicaProtocolTests {

	@Test
	void wordsOfOthersAreOneShortLineOfPlainLetters() {
		assertThat(ReplicaProtocol.printable(" no\r\nWARN \u001b[2Jno \u009b2J \u202eon\u2028 "))
			.isEqualTo("no WARN [2Jno 2J on");
		assertThat(ReplicaProtocol.printable("x".repeat(10_000))).hasSizeLessThan(1000);
	}

}
