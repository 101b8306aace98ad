package io.kvorum.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Frames come out as they went in; what is none is noticed. */
class FramesTests {

	private static final int TIMES = 1_000;

	/** What follows the length. */
	private static ByteBuf written(Frame frame) {
		ByteBuf out = Unpooled.buffer();
		frame.writeHead(out);
		assertThat(out.readableBytes()).isEqualTo(frame.headBytes());
		out.writeBytes(frame.tail());
		assertThat(out.readInt()).isEqualTo(out.readableBytes());
		return out;
	}

	@SeededTest
	void anOperationComesOutAsItWentIn(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < TIMES; i++) {
			OperationFrame in = new OperationFrame((int) random.anyLong(), (byte) random.below(256),
					(int) random.anyLong(), random.key(), random.bytes(random.below(100)));
			OperationFrame out = OperationFrame.read(written(in));

			assertThat(out.correlation).isEqualTo(in.correlation);
			assertThat(out.kind).isEqualTo(in.kind);
			assertThat(out.remainingMicros).isEqualTo(in.remainingMicros);
			assertThat(out.key).isEqualTo(in.key);
			assertThat(out.entry).isEqualTo(in.entry);
		}
	}

	@SeededTest
	void aReplyComesOutAsItWentIn(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < TIMES; i++) {
			Key key = random.key();
			int correlation = (int) random.anyLong();
			Reply in = reply(random);
			ReplyFrame out = ReplyFrame.read(written(ReplyFrame.of(correlation, key, in)));

			assertThat(out.correlation).isEqualTo(correlation);
			assertThat(out.toReply(key)).isEqualTo(in);
		}
	}

	private static Reply reply(Generator random) {
		return switch (random.below(5)) {
			case 0 -> Acknowledged.INSTANCE;
			case 1 -> Held.nothing();
			case 2 -> new Held(random.version(), null);
			case 3 -> Held.of(random.entry(random.version()));
			default -> new Failed(random.oneOf(List.of(Reason.values())), "Gr\u00fc\u00dfe " + random.below(100),
					random.chance(50), random.chance(50));
		};
	}

	@Test
	void longWordsOfAFailureAreCutOff() {
		Reply reply = ReplyFrame
			.read(written(ReplyFrame.of(1, Generator.key("k"), Failed.notDone(Reason.INTERNAL, "x".repeat(10_000)))))
			.toReply(Generator.key("k"));

		assertThat(reply).isEqualTo(Failed.notDone(Reason.INTERNAL, "x".repeat(500)));
	}

	@Test
	void theEntryOfAnotherKeyIsDamaged() {
		Held held = Held.of(Generator.live(new Version(1, 1), "value"));
		ReplyFrame frame = ReplyFrame.of(1, Generator.key("one"), held);

		assertThatExceptionOfType(DamagedEntryException.class).isThrownBy(() -> frame.toReply(Generator.key("other")));
	}

	@Test
	void whatIsNoReplyIsNone() {
		for (byte kind : new byte[] { 0, ReplicaProtocol.HELLO, ReplicaProtocol.PONG, ReplicaProtocol.TOO_LARGE, 99 }) {
			ReplyFrame frame = ReplyFrame.read(written(ReplyFrame.of(1, kind)));
			assertThatIllegalStateException().isThrownBy(() -> frame.toReply(Generator.key("k")));
		}
	}

	@SeededTest
	void bytesOfChanceAreAFrameOrAnErrorAndReadNoMoreThanThere(long seed) {
		Generator random = new Generator(seed);
		List<Throwable> errors = new ArrayList<>();
		for (int i = 0; i < TIMES; i++) {
			byte[] bytes = random.bytes(random.below(40));
			try {
				OperationFrame.read(Unpooled.wrappedBuffer(bytes));
			}
			catch (RuntimeException ex) {
				errors.add(ex);
			}
			try {
				Objects.requireNonNull(ReplyFrame.read(Unpooled.wrappedBuffer(bytes)).toReply(Generator.key("k")));
			}
			catch (RuntimeException ex) {
				errors.add(ex);
			}
		}
		assertThat(errors).hasSizeGreaterThan(TIMES);
	}

}
