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
		assertThat(names.fingerprints()).containsExactly(BEFORE.fingerprint());
	}

	@Test
	void inAChangeItIsBoth() {
		TopologyNames names = TopologyNames.of(Topology.changing(BEFORE, AFTER));

		assertThat(names.isChange()).isTrue();
		assertThat(names.fingerprints()).containsExactly(BEFORE.fingerprint(), AFTER.fingerprint());
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "", "+", "none", "none+none", "++++", "1+", "+1", "1+2+3", "-1", "A", "12345678901234567" })
	void whatIsNoTopologyHasNoFingerprint(String text) {
		assertThat(new TopologyNames(text).fingerprints()).isEmpty();
		assertThat(new TopologyNames(text).isChange()).isFalse();
	}

}
