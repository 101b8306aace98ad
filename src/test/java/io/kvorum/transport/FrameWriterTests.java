package io.kvorum.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import io.kvorum.kv.Key;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import reactor.core.publisher.BaseSubscriber;

import static org.assertj.core.api.Assertions.assertThat;

class FrameWriterTests {

	private static final int BUFFER_BYTES = 32 << 10;

	private final Queue<Runnable> loop = new ArrayDeque<>();

	private final List<Integer> batches = new ArrayList<>();

	private final FrameWriter writer = new FrameWriter(this.loop::add, 1 << 20, this.batches::add);

	private final List<Integer> read = new ArrayList<>();

	private final List<Integer> bufferBytes = new ArrayList<>();

	private final List<ByteBuf> buffers = new ArrayList<>();

	private final FrameReader<OperationFrame> reader = new FrameReader<>(1 << 24, OperationFrame::read);

	/** Turns of the event loop until nothing is left to do. */
	private void turn() {
		for (Runnable task = this.loop.poll(); task != null; task = this.loop.poll()) {
			task.run();
		}
	}

	private static OperationFrame frame(int correlation, int tailBytes) {
		return new OperationFrame(correlation, ReplicaProtocol.STORE, 1, Generator.key("k" + correlation),
				new byte[tailBytes]);
	}

	/** Reads what is written; asks for more only when told to. */
	private final class Network extends BaseSubscriber<DataBuffer> {

		private final boolean endsAtTheFirst;

		private boolean isComplete;

		Network(boolean endsAtTheFirst) {
			this.endsAtTheFirst = endsAtTheFirst;
		}

		@Override
		protected void hookOnSubscribe(Subscription subscription) {
		}

		@Override
		protected void hookOnNext(DataBuffer buffer) {
			FrameWriterTests.this.buffers.add(NettyDataBufferFactory.toByteBuf(buffer));
			FrameWriterTests.this.bufferBytes.add(buffer.readableByteCount());
			FrameWriterTests.this.reader.read(buffer, frame -> FrameWriterTests.this.read.add(frame.correlation));
			if (this.endsAtTheFirst) {
				cancel();
			}
		}

		@Override
		protected void hookOnComplete() {
			this.isComplete = true;
		}

	}

	private Network connect() {
		Network network = new Network(false);
		this.writer.buffers().subscribe(network);
		return network;
	}

	@Test
	void whatIsSentInOneTurnLeavesTogether() {
		connect().request(10);
		turn();
		this.writer.send(frame(1, 10));
		this.writer.send(frame(2, 0));
		assertThat(this.read).isEmpty();
		turn();
		this.writer.send(frame(3, 0));
		turn();

		assertThat(this.read).containsExactly(1, 2, 3);
		assertThat(this.batches).containsExactly(2, 1);
	}

	@Test
	void nothingLeavesThatWasNotAskedForAndNothingIsLost() {
		this.writer.send(frame(1, 3 * BUFFER_BYTES));
		turn();
		Network network = connect();
		turn();
		assertThat(this.bufferBytes).isEmpty();
		network.request(1);
		turn();
		assertThat(this.bufferBytes).hasSize(1);
		assertThat(this.read).isEmpty();
		this.writer.send(frame(2, 0));
		turn();
		assertThat(this.bufferBytes).hasSize(1);
		network.request(10);
		turn();

		assertThat(this.read).containsExactly(1, 2);
		assertThat(this.bufferBytes).hasSize(4);
	}

	/** Nobody would release it. */
	@Test
	void whatIsSentBehindTheEndGetsNoBuffer() {
		Network network = connect();
		network.request(10);
		this.writer.send(frame(1, 10));
		this.writer.end();
		turn();
		assertThat(network.isComplete).isTrue();
		this.writer.send(frame(2, 10));
		turn();

		assertThat(this.batches).containsExactly(1);
		assertThat(this.buffers).allMatch(buffer -> buffer.refCnt() == 0);
	}

	@Test
	void theLongestFrameOfTwiceTheLimitIsNotTooMuchButManyBehindItAre() {
		assertThat(this.writer.hasRoomFor(2 << 20)).isTrue();
		this.writer.send(frame(1, 2 << 20));
		assertThat(this.writer.isOverfull()).isFalse();
		for (int i = 2; i < 10; i++) {
			this.writer.send(frame(i, 0));
		}
		assertThat(this.writer.isOverfull()).isFalse();
		this.writer.send(frame(10, 2 << 20));

		assertThat(this.writer.isOverfull()).isTrue();
	}

	@Test
	void theEndComesWhenAllThatWasSentHasLeft() {
		Network network = connect();
		this.writer.send(frame(1, 2 * BUFFER_BYTES));
		this.writer.end();
		turn();
		network.request(2);
		turn();
		assertThat(network.isComplete).isFalse();
		network.request(2);
		turn();

		assertThat(network.isComplete).isTrue();
		assertThat(this.read).containsExactly(1);
	}

	@Test
	void anEndWithoutAFrameIsAnEndAlsoWithoutDemand() {
		Network network = connect();
		this.writer.end();
		turn();

		assertThat(network.isComplete).isTrue();
	}

	@Test
	void aBufferThatNobodyTakesAnyMoreIsNotMade() {
		Network network = new Network(true);
		this.writer.buffers().subscribe(network);
		this.writer.send(frame(1, 5 * BUFFER_BYTES));
		network.request(10);
		turn();

		assertThat(this.bufferBytes).hasSize(1);
		assertThat(this.batches).as("buffers made").hasSize(1);
		this.reader.close();
	}

	@Test
	void whoIsGoneGetsNothing() {
		Network network = connect();
		network.request(10);
		network.cancel();
		this.writer.send(frame(1, 10));
		turn();

		assertThat(this.bufferBytes).isEmpty();
		assertThat(this.batches).isEmpty();
	}

	@SeededTest
	void framesOfAnySizeArriveInTheirOrderInBuffersThatAreNotMuchLargerThanTheLimit(long seed) {
		Generator random = new Generator(seed);
		Network network = connect();
		List<Integer> sent = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			int tail = random.chance(10) ? random.below(4 * BUFFER_BYTES) : random.below(200);
			this.writer.send(new OperationFrame(i, ReplicaProtocol.STORE, 1, random.key(), random.bytes(tail)));
			sent.add(i);
			if (random.chance(30)) {
				network.request(1 + random.below(3));
			}
			if (random.chance(50)) {
				turn();
			}
		}
		network.request(Long.MAX_VALUE);
		turn();

		assertThat(this.read).isEqualTo(sent);
		assertThat(this.batches.stream().mapToInt(Integer::intValue).sum()).isEqualTo(500);
		assertThat(this.bufferBytes).allMatch(bytes -> bytes > 0 && bytes <= BUFFER_BYTES + Key.MAX_LENGTH_BYTES + 15);
		assertThat(this.buffers).allMatch(buffer -> buffer.refCnt() == 0);
	}

}
