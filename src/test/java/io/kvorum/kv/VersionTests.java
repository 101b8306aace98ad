package io.kvorum.kv;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class VersionTests {

	@Test
	void aLaterTimeIsNewerWhateverTheNode() {
		assertThat(new Version(2, 1).isNewerThan(new Version(1, 9))).isTrue();
		assertThat(new Version(1, 9).isNewerThan(new Version(2, 1))).isFalse();
	}

	@Test
	void atTheSameTimeTheGreaterNodeIsNewer() {
		assertThat(new Version(1, 2).isNewerThan(new Version(1, 1))).isTrue();
		assertThat(new Version(1, 1).isNewerThan(new Version(1, 2))).isFalse();
	}

	@Test
	void noVersionIsNewerThanItself() {
		assertThat(new Version(7, 7).isNewerThan(new Version(7, 7))).isFalse();
	}

	@Test
	void timesAndNodesAreUnsigned() {
		assertThat(new Version(-1, 0).isNewerThan(new Version(Long.MAX_VALUE, 0))).isTrue();
		assertThat(new Version(1, -1).isNewerThan(new Version(1, Long.MAX_VALUE))).isTrue();
	}

	@SeededTest
	void absentIsTheOldestOfAll(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 1000; i++) {
			assertThat(random.version().isNewerThan(Version.ABSENT)).isTrue();
		}
	}

	@SeededTest
	void ofAnyVersionsTheOrderIsTotal(long seed) {
		Generator random = new Generator(seed);
		List<Version> versions = new ArrayList<>();
		for (int i = 0; i < 60; i++) {
			versions.add(random.chance(50) ? random.version() : random.closeVersion());
		}
		for (Version a : versions) {
			for (Version b : versions) {
				assertThat(Integer.signum(a.compareTo(b))).isEqualTo(-Integer.signum(b.compareTo(a)));
				assertThat(a.compareTo(b) == 0).isEqualTo(a.equals(b));
				for (Version c : versions) {
					assertThat(a.isNewerThan(b) && b.isNewerThan(c) && !a.isNewerThan(c)).isFalse();
				}
			}
		}
	}

	@Test
	void asClientsSeeItItHas32HexadecimalDigits() {
		assertThat(new Version(0x018b_cfe5_6800_0007L, 0xff).toHex()).isEqualTo("018bcfe56800000700000000000000ff");
	}

	@Test
	void aTimestampIsMillisecondsAnd16BitsOfCounter() {
		Version version = new Version(0x018b_cfe5_6800_0007L, 1);

		assertThat(version.millis()).isEqualTo(0x018b_cfe5_6800L).isEqualTo(1_700_000_000_000L);
	}

	@Test
	void theLastTimestampOfAMillisecondHasAFullCounterAndTheNextBeginsTheNextOne() {
		long last = Version.lastTimestampOf(1_700_000_000_000L);

		assertThat(last).isEqualTo(0x018b_cfe5_6800_ffffL);
		assertThat(new Version(last, 0).millis()).isEqualTo(1_700_000_000_000L);
		assertThat(new Version(last + 1, 0).millis()).isEqualTo(1_700_000_000_001L);
	}

}
