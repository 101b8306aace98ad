package io.kvorum.transport;

import io.kvorum.cluster.Topology;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class PeerStateTests {

	private final PeerState peer = new PeerState(Topology.alone().members().getFirst(), 2, new SteeredTime(),
			TransportEvents.NONE);

	@ParameterizedTest
	@EnumSource(Reason.class)
	void onlyARefusalIsOne(Reason reason) {
		this.peer.notOpened(reason, "", false);
		assertThat(this.peer.status().refused()).isEqualTo(reason == Reason.REFUSED || reason == Reason.UNTRUSTED);
	}

	@ParameterizedTest
	@EnumSource(Reason.class)
	void whoRefusedHasRefusedWhateverBecomesOfOtherAttempts(Reason other) {
		this.peer.notOpened(Reason.REFUSED, "another secret", false);
		this.peer.notOpened(other, "too late", false);
		assertThat(this.peer.status().refused()).isTrue();
	}

	@Test
	void untilItTakesOne() {
		this.peer.notOpened(Reason.REFUSED, "another secret", false);
		this.peer.opened();
		assertThat(this.peer.status().refused()).isFalse();
		assertThat(this.peer.status().everOpen()).isTrue();
	}

}
