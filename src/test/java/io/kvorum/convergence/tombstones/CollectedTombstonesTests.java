package io.kvorum.convergence.tombstones;

import java.util.List;
import java.util.stream.LongStream;

import io.kvorum.kv.Version;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CollectedTombstonesTests {

	private final CollectedTombstones collected = new CollectedTombstones();

	private static Version version(long millis, long counter, long node) {
		return new Version((millis << Version.COUNTER_BITS) + counter, node);
	}

	@Test
	void aTombstoneIsKnownByItsWholeVersion() {
		this.collected.add(version(1_000, 7, 1));

		assertThat(this.collected.contains(version(1_000, 7, 1))).isTrue();
		assertThat(this.collected.contains(version(1_000, 7, 2))).isFalse();
		assertThat(this.collected.contains(version(1_000, 8, 1))).isFalse();
		assertThat(this.collected.contains(Version.ABSENT)).isFalse();
	}

	@Test
	void manyAreRememberedAndTheMemoryIsBounded() {
		List<Version> versions = LongStream.range(0, 200_000).mapToObj(i -> version(1_000 + i, 0, 1)).toList();
		versions.forEach(this.collected::add);

		assertThat(versions.subList(190_000, 200_000).stream().filter(this.collected::contains))
			.hasSizeGreaterThan(9_000);
		assertThat(versions.stream().filter(this.collected::contains)).hasSizeLessThanOrEqualTo(1 << 16);
	}

}
