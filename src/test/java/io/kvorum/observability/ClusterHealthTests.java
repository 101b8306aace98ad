package io.kvorum.observability;

import java.util.List;

import io.kvorum.transport.PeerStatus;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;

class ClusterHealthTests {

	private static final PeerStatus AWAY = new PeerStatus("http://a:1", 0, 2, "it does not answer", false, false);

	private static final PeerStatus REFUSES = new PeerStatus("http://b:1", 0, 2, "another topology", false, true);

	private static final PeerStatus TAKES = new PeerStatus("http://c:1", 2, 2, "", true, false);

	@Test
	void peersThatAreAwayAreNoFaultOfThisNode() {
		assertThat(statusWith(AWAY, AWAY)).isEqualTo(Status.UP);
	}

	@Test
	void onePeerThatRefusesMayBeWrongItselfWhileAMajorityIsLeft() {
		assertThat(statusWith(REFUSES, AWAY)).isEqualTo(Status.UP);
		assertThat(statusWith(REFUSES, REFUSES, AWAY, AWAY)).isEqualTo(Status.UP);
	}

	@Test
	void refusedBySoManyThatNoMajorityIsLeftItIsOutOfService() {
		assertThat(statusWith(REFUSES)).isEqualTo(Status.OUT_OF_SERVICE);
		assertThat(statusWith(REFUSES, REFUSES)).isEqualTo(Status.OUT_OF_SERVICE);
		assertThat(statusWith(REFUSES, REFUSES, REFUSES, AWAY)).isEqualTo(Status.OUT_OF_SERVICE);
	}

	@Test
	void whoWasTakenOnceHasTheRightConfiguration() {
		assertThat(statusWith(REFUSES, REFUSES, TAKES)).isEqualTo(Status.UP);
	}

	private static Status statusWith(PeerStatus... peers) {
		return new ClusterHealth(() -> List.of(peers), null).health()
			.map(Health::getStatus)
			.blockOptional()
			.orElseThrow();
	}

}
