package io.kvorum.convergence.quarantine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import io.kvorum.cluster.Topology;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Bytes that nodes of different versions have on disk, and in introductions. */
class RecordedBytesTests {

	private static final Topology TOPOLOGY = Topology.of(List.of("http://a:1", "http://b:1"), 2);

	private static final SystemBoot BOOT = new SystemBoot("68f0b0a4", true);

	private final InMemoryRecord disk = new InMemoryRecord(7);

	private final SteeredTime time = new SteeredTime();

	private final NodeState nodeState = new NodeState(TOPOLOGY, TOPOLOGY.members().getFirst(), this.disk,
			PeerQueries.NONE, this.time, QuarantinedNodes.MOST_AWAY, BOOT);

	private static String hex(byte[] bytes) {
		return HexFormat.of().formatHex(bytes);
	}

	private String recorded(String name) {
		byte[] recorded = this.disk.recorded(name);
		return (recorded != null) ? hex(recorded) : "none";
	}

	private void record(String name, String hex) {
		Now.of(this.disk.record(name, HexFormat.of().parseHex(hex)));
	}

	@ParameterizedTest
	@CsvSource({ "NEW,01,new", "READY,02,ready", "MEMBER,03,member", "NEWCOMER,04,blank", "LOST_DISK,05,lost",
			"AWAY_TOO_LONG,06,absent", "STALE_DISK,07,old", "RESTORED,08,restored", "REUNITED,09,reunited",
			"UNSYNCED,0a,unsynced" })
	void whatANodeIsHasTheSameBytesAndLabelAsEver(State state, String code, String label) {
		assertThat(state.label()).isEqualTo(label);
		Membership membership = new Membership(state, 0x018b_cfe5_6800L);

		assertThat(hex(membership.toBytes())).isEqualTo(code + "0000018bcfe56800");
		assertThat(Membership.of(HexFormat.of().parseHex(code + "0000018bcfe56800"))).isEqualTo(membership);
	}

	@Test
	void whatIsNoMembershipIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Membership.of(new byte[9]))
			.withMessage("there is no state 0");
		byte[] bytes = Membership.NEW.toBytes();
		for (int length = 0; length < bytes.length; length++) {
			byte[] truncated = Arrays.copyOf(bytes, length);
			assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> Membership.of(truncated));
		}
	}

	@Test
	void introductionsHaveTheSameBytesAsEver() {
		Introduction introduction = new Introduction(2, -5, new Membership(State.LOST_DISK, 99), 3, Long.MIN_VALUE, 4,
				-6);
		String hex = "01" + "00000002" + "fffffffffffffffb" + "05" + "0000000000000063" + "0000000000000003"
				+ "8000000000000000" + "0000000000000004" + "fffffffffffffffa";

		assertThat(hex(introduction.toQuery().toBytes())).isEqualTo(hex);
		assertThat(Introduction.of(PeerQuery.of(HexFormat.of().parseHex(hex)))).isEqualTo(introduction);
	}

	@Test
	void whatIsNoIntroductionIsRefused() {
		byte[] bytes = new Introduction(2, -5, Membership.NEW, 3, 4, 5, 6).toQuery().toBytes();
		for (int length = 1; length <= bytes.length + 1; length++) {
			if (length != bytes.length) {
				byte[] other = Arrays.copyOf(bytes, length);
				assertThatIllegalArgumentException().isThrownBy(() -> Introduction.of(PeerQuery.of(other)))
					.withMessage("no introduction");
			}
		}
		bytes[0] = 2;
		assertThatIllegalArgumentException().isThrownBy(() -> Introduction.of(PeerQuery.of(bytes)));
	}

	@Test
	void anotherAddressIsOnlyTakenIfTheNodesThatAreRecordedHaveIt() {
		byte[] before = "http://c:1".getBytes(StandardCharsets.UTF_8);
		Now.of(this.disk.record("address", before));
		Topology without = Topology.of(List.of("http://b:1", "http://c:1"), 2);

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> this.nodeState.claim(false, null));
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> this.nodeState.claim(true, without))
			.withMessageContaining("which is none of these");
		assertThat(this.disk.recorded("address")).isEqualTo(before);
		Now.of(this.nodeState.claim(true, TOPOLOGY));
		assertThat(this.disk.recorded("address")).isNotEqualTo(before);
	}

	@Test
	void aNodeRecordsTheSameBytesAsEver() {
		Now.of(this.nodeState.claim(false, null));
		assertThat(recorded("address")).as("http://a:1").isEqualTo("687474703a2f2f613a31");

		Now.of(this.nodeState.load());
		assertThat(recorded("membership")).isEqualTo("010000000000000000");
		assertThat(recorded("boot")).as("68f0b0a4").isEqualTo("3638663062306134");
		Now.of(this.nodeState.noteStop());
		assertThat(recorded("boot")).isEmpty();

		Now.of(this.nodeState.noteAlive());
		this.time.jump(Duration.ofSeconds(-1));
		Now.of(this.nodeState.noteAlive());
		assertThat(recorded("alive")).as("now, and the latest ever").isEqualTo("000001a3185c4c18" + "000001a3185c5000");

		Now.of(this.nodeState.acceptLoss());
		Now.of(this.nodeState.receive(TOPOLOGY.members().getLast(),
				new Introduction(1, -2, new Membership(State.MEMBER, 3), 4, 0, 0, 0)));
		assertThat(recorded("disk of http://b:1"))
			.isEqualTo("fffffffffffffffe" + "0000000000000003" + "0000000000000003");
	}

	@Test
	void whatIsRecordedOfAnotherRunOfAnUnknownSystemIsTheSameAsEver() {
		assertThat(hex(new SystemBoot("", true).begun())).as("unknown").isEqualTo("756e6b6e6f776e");
		assertThat(SystemBoot.SYNCED.begun()).isEmpty();
	}

	@Test
	void whatOlderVersionsRecordedIsRead() {
		record("membership", "030000000000000001");
		record("alive", "000001a3185c5000");
		record("boot", "3638663062306134");
		Now.of(this.nodeState.load());

		assertThat(this.nodeState.state()).isEqualTo(State.MEMBER);
		assertThat(this.nodeState.introductionTo(TOPOLOGY.members().getLast(), true).aliveMillis())
			.isEqualTo(SteeredTime.START_MILLIS);
	}

}
