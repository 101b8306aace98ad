package io.kvorum.cassandra;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What is in the cells of Cassandra, and what the keyspace says. */
class StoredEntryTests {

	private static final Version VERSION = new Version(0x0123_4567_89ab_cdefL, -2);

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 255, 1 << 20 })
	void anEntryIsReadAsItWasWritten(int length) {
		byte[] bytes = new byte[length + 2];
		new Random(length).nextBytes(bytes);
		for (String type : new String[] { "", "text/plain", "t".repeat(Entry.MAX_CONTENT_TYPE_BYTES), "\u00e9" }) {
			// Part of a larger array, as values of the network are.
			ByteBuffer cell = StoredEntry.encode(VERSION, 77, type, Value.slice(bytes, 1, length + 1));
			Live read = StoredEntry.decode(cell);
			assertThat(read.identity()).isEqualTo(VERSION);
			assertThat(read.expiresAtMillis()).isEqualTo(77);
			assertThat(read.contentType()).isEqualTo(type);
			assertThat(read.value().toBytes()).isEqualTo(Arrays.copyOfRange(bytes, 1, length + 1));
			// The driver's buffer may be read again.
			assertThat(cell.position()).isZero();
		}
	}

	@Test
	void aCellOfAnotherFormIsNotGuessedAt() {
		ByteBuffer cell = StoredEntry.encode(VERSION, Live.NEVER, "text/plain", Value.of(new byte[3]));
		cell.put(0, (byte) 2);
		assertThatIllegalStateException().isThrownBy(() -> StoredEntry.decode(cell)).withMessageContaining("later");
		assertThatIllegalStateException().isThrownBy(() -> StoredEntry.decode(ByteBuffer.wrap(new byte[] { 1, 0 })));
	}

	@Test
	void theCellThatIsComparedTellsWhatMustBeLookedAt() {
		ByteBuffer lasting = VersionCell.of(VERSION);
		ByteBuffer expiring = VersionCell.ofExpiring(VERSION);

		assertThat(lasting).isNotEqualTo(expiring).isNotEqualTo(VersionCell.of(new Version(1, -2)));
		assertThat(VersionCell.identity(lasting)).isEqualTo(VERSION);
		assertThat(VersionCell.identity(expiring)).isEqualTo(VERSION);
		assertThat(VersionCell.isPlain(lasting)).isFalse();
		assertThat(VersionCell.isPlain(VersionCell.plain())).isTrue();
		// Of two cells with the same timestamp Cassandra keeps the larger.
		assertThat(
				Arrays.compareUnsigned(VersionCell.plain().array(), VersionCell.of(new Version(-1L >>> 1, -1)).array()))
			.isPositive();
	}

	@Test
	void whatHasBecomeOfARequestIsReadAsItWasWritten() {
		assertThat(RequestNames.unmet(RequestNames.outcome(null))).isNull();
		assertThat(RequestNames.unmet(RequestNames.outcome(new ConditionNotMetException(VERSION))))
			.extracting(ConditionNotMetException::current)
			.isEqualTo(VERSION);
		assertThat(RequestNames.unmet(RequestNames.outcome(new ConditionNotMetException(null)))).isNotNull()
			.extracting(ConditionNotMetException::current)
			.isNull();
	}

	@Test
	void theFactorIsThatOfAllDataCentres() {
		assertThat(CassandraConnection.factorOf(Map.of("class", "NetworkTopologyStrategy", "dc1", "3", "dc2", "2")))
			.isEqualTo(5);
		assertThat(CassandraConnection.factorOf(Map.of("class", "SimpleStrategy", "replication_factor", "1")))
			.isEqualTo(1);
		assertThat(CassandraConnection.factorOf(Map.of("class", "NetworkTopologyStrategy", "dc1", "3/1"))).isEqualTo(3);
	}

	@ParameterizedTest
	@CsvSource({ "1, 1, 1", "2, 2, '1 2'", "3, 2, '1 2 3'", "4, 3, '1 2 3 4'", "5, 3, '1 2 3 5'", "7, 4, '1 2 3 4 7'" })
	void anOperationWaitsForNumbersThatCassandraHasALevelFor(int factor, int majority, String acks) {
		ReplicationPolicy policy = CassandraConnection.policyOf(factor);

		assertThat(policy.factor()).isEqualTo(factor);
		assertThat(policy.defaults()).hasToString(majority + "/" + factor);
		Set<String> possible = Set.of(acks.split(" ", -1));
		for (int ack = 1; ack <= factor; ack++) {
			assertThat(policy.allows(ack, factor)).as("%d/%d", ack, factor)
				.isEqualTo(possible.contains(String.valueOf(ack)));
			if (policy.allows(ack, factor)) {
				assertThat(policy.consistencyOf(new Replicas(ack, factor)))
					.isEqualTo((ack >= majority) ? Consistency.LINEARIZABLE : Consistency.EVENTUAL);
			}
		}
		assertThat(policy.allows(1, factor + 1)).isFalse();
	}

}
