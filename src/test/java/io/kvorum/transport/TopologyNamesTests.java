package io.kvorum.transport;

import java.util.List;

import io.kvorum.cluster.Topology;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TopologyNamesTests {

	private static final Topology BEFORE = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 3);

	private static final Topology AFTER = Topology.of(List.of("http://b:1", "http://c:1", "http://d:1"), 3);

	@Test
	void withoutAChangeItIsTheFingerprintAsInEveryVersion() {
		TopologyNames names = TopologyNames.of(BEFORE);

		assertThat(names.text()).isEqualTo(Long.toHexString(BEFORE.fingerprint()));
		assertThat(names.isChange()).isFalse();
		assertThat(names.include(BEFORE.fingerprint())).isTrue();
		assertThat(names.include(AFTER.fingerprint())).isFalse();
	}

	@Test
	void inAChangeItIsBothButNotTheChangeItself() {
		Topology change = Topology.changing(BEFORE, AFTER);
		TopologyNames names = TopologyNames.of(change);

		assertThat(names.isChange()).isTrue();
		assertThat(names.include(BEFORE.fingerprint())).isTrue();
		assertThat(names.include(AFTER.fingerprint())).isTrue();
		assertThat(names.include(change.fingerprint())).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "+", "none", "none+none", "++++" })
	void whatIsNoTopologyIncludesNone(String text) {
		assertThat(new TopologyNames(text).include(BEFORE.fingerprint())).isFalse();
	}

}
