package io.kvorum.storage.rocksdb;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class StoreGateTests {

	private final StoreGate gate = new StoreGate();

	@Test
	void nobodyEntersBeforeItIsOpenedNorAfterItIsClosed() {
		assertThat(this.gate.enter()).isFalse();
		this.gate.open();
		assertThat(this.gate.enter()).isTrue();
		this.gate.leave();
		this.gate.close();
		assertThat(this.gate.enter()).isFalse();
	}

	@Test
	void itCanBeOpenedAgain() {
		this.gate.open();
		this.gate.close();
		this.gate.open();

		assertThat(this.gate.enter()).isTrue();
	}

	@Test
	void whoeverIsRefusedIsNotWaitedFor() {
		assertThat(this.gate.enter()).isFalse();
		this.gate.close();
	}

	@Test
	void closingWaitsForThoseInsideAndLetsNobodyIn() {
		this.gate.open();
		assertThat(this.gate.enter()).isTrue();
		assertThat(this.gate.enter()).isTrue();
		CompletableFuture<Void> closing = CompletableFuture.runAsync(this.gate::close);
		while (this.gate.enter()) {
			// The other thread has not begun to close.
			this.gate.leave();
			Thread.onSpinWait();
		}

		assertThat(closing).isNotDone();
		this.gate.leave();
		assertThat(closing).isNotDone();
		this.gate.leave();
		closing.join();
	}

	@SeededTest
	void howeverManyComeAndGoNobodyIsInsideOnceItIsClosed(long seed) {
		Generator random = new Generator(seed);
		for (int round = 0; round < 100; round++) {
			StoreGate contested = new StoreGate();
			contested.open();
			AtomicInteger entered = new AtomicInteger();
			AtomicBoolean closed = new AtomicBoolean();
			int before = random.below(200);
			Together.run(4, thread -> () -> (thread == 0) ? closeAfter(contested, entered, before, closed)
					: useUntilClosed(contested, entered, closed));
		}
	}

	private static boolean closeAfter(StoreGate gate, AtomicInteger entered, int before, AtomicBoolean closed) {
		while (entered.get() < before) {
			Thread.onSpinWait();
		}
		gate.close();
		closed.set(true);
		return true;
	}

	private static boolean useUntilClosed(StoreGate gate, AtomicInteger entered, AtomicBoolean closed) {
		while (gate.enter()) {
			entered.incrementAndGet();
			boolean closedWhileInside = closed.get();
			gate.leave();
			assertThat(closedWhileInside).as("closed while somebody was inside").isFalse();
		}
		return true;
	}

}
