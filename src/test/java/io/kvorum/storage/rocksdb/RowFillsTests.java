package io.kvorum.storage.rocksdb;

import io.kvorum.kv.Key;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RowFillsTests {

	private static final int PAIRS = 4096;

	private static final byte[] ROW = { 1 };

	private final RowFills fills = new RowFills();

	private final RowCache rows = new RowCache(1 << 20, PAIRS);

	private static Key key(int number) {
		return Generator.key("key " + number);
	}

	@Test
	void itSaysWhenThereAreEnough() {
		for (int i = 1; i < RowFills.ENOUGH; i++) {
			assertThat(this.fills.offer(key(i), ROW, this.rows.now())).isFalse();
		}
		assertThat(this.fills.areEnough()).isFalse();

		assertThat(this.fills.offer(key(0), ROW, this.rows.now())).isTrue();
		assertThat(this.fills.areEnough()).isTrue();
	}

	@Test
	void whatComesWhileTooManyWaitIsDroppedAndAfterThemItIsTakenAgain() {
		long asOf = this.rows.now();
		for (int i = 0; i < 2 * RowFills.ENOUGH; i++) {
			this.fills.offer(key(i), ROW, asOf);
		}
		assertThat(this.fills.offer(key(-1), ROW, asOf)).isFalse();
		this.fills.drainTo(this.rows);
		assertThat(this.fills.areEnough()).isFalse();
		assertThat(this.rows.get(key(0))).isEqualTo(ROW);
		assertThat(this.rows.get(key(-1))).isNull();

		this.fills.offer(key(-1), ROW, this.rows.now());
		this.fills.drainTo(this.rows);
		assertThat(this.rows.get(key(-1))).isEqualTo(ROW);
	}

}
