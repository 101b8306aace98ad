package io.kvorum.transport;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.buffer.NettyDataBufferFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

class FrameReaderTests {

	private static final int MAX = 1_000;

	private static final NettyDataBufferFactory BUFFERS = new NettyDataBufferFactory(ByteBufAllocator.DEFAULT);

	private final List<String> frames = new ArrayList<>();

	private final List<ByteBuf> given = new ArrayList<>();

	private final FrameReader<String> reader = new FrameReader<>(MAX, ByteBufUtil::hexDump);

	@AfterEach
	void everyBufferWasReleasedOnce() {
		assertThat(this.given).allMatch(buffer -> buffer.refCnt() == 0);
	}

	private void read(byte[] bytes) {
		ByteBuf buffer = ByteBufAllocator.DEFAULT.buffer(bytes.length).writeBytes(bytes);
		this.given.add(buffer);
		this.reader.read(BUFFERS.wrap(buffer), this.frames::add);
	}

	private static byte[] framesOf(byte[]... contents) {
		ByteBuf all = Unpooled.buffer();
		for (byte[] content : contents) {
			all.writeInt(content.length).writeBytes(content);
		}
		return ByteBufUtil.getBytes(all);
	}

	@Test
	void framesSplitAtAnyTwoPlacesAreTheSame() {
		byte[] stream = framesOf(new byte[] { 1, 2, 3 }, new byte[] { 4 }, new byte[0], new byte[] { 5, 6, 7, 8, 9 });
		for (int first = 0; first <= stream.length; first++) {
			for (int second = first; second <= stream.length; second++) {
				this.frames.clear();
				read(Arrays.copyOfRange(stream, 0, first));
				read(Arrays.copyOfRange(stream, first, second));
				read(Arrays.copyOfRange(stream, second, stream.length));
				assertThat(this.frames).containsExactly("010203", "04", "", "0506070809");
			}
		}
	}

	@SeededTest
	void framesOfAnySizeInBuffersOfAnySizeAreTheSame(long seed) {
		Generator random = new Generator(seed);
		List<String> expected = new ArrayList<>();
		ByteBuf stream = Unpooled.buffer();
		for (int i = 0; i < 2_000; i++) {
			byte[] content = random.bytes(random.below(random.chance(10) ? MAX + 1 : 30));
			expected.add(ByteBufUtil.hexDump(content));
			stream.writeBytes(framesOf(content));
		}
		while (stream.isReadable()) {
			byte[] next = new byte[Math.min(stream.readableBytes(), 1 + random.below(random.chance(50) ? 8 : 3_000))];
			stream.readBytes(next);
			read(next);
		}

		assertThat(this.frames).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(ints = { MAX + 1, Integer.MAX_VALUE, -1, Integer.MIN_VALUE })
	void aLengthBeyondTheLimitIsAnErrorAlsoWhereItArrivesInPieces(int length) {
		byte[] begun = Unpooled.buffer().writeInt(length).array();

		assertThatIllegalStateException().isThrownBy(() -> read(Arrays.copyOf(begun, 4)))
			.withMessageContaining("the limit is " + MAX);
		read(Arrays.copyOf(begun, 2));
		assertThatIllegalStateException().isThrownBy(() -> read(Arrays.copyOfRange(begun, 2, 4)));
		this.reader.close();
		assertThat(this.frames).isEmpty();
	}

	@Test
	void aFrameAtTheLimitIsRead() {
		read(framesOf(new byte[MAX]));

		assertThat(this.frames).hasSize(1);
	}

	@Test
	void whatWasBegunIsGivenBackAndForgotten() {
		read(Arrays.copyOf(framesOf(new byte[10]), 9));
		this.reader.close();
		this.reader.close();
		read(framesOf(new byte[] { 1 }));

		assertThat(this.frames).containsExactly("01");
	}

	@Test
	void aParserThatFailsLeavesNoBufferBehind() {
		FrameReader<Byte> failing = new FrameReader<>(MAX, ByteBuf::readByte);
		ByteBuf whole = ByteBufAllocator.DEFAULT.buffer().writeInt(0);
		assertThat(readBy(failing, whole)).isInstanceOf(IndexOutOfBoundsException.class);
		ByteBuf part = ByteBufAllocator.DEFAULT.buffer().writeShort(0);
		ByteBuf rest = ByteBufAllocator.DEFAULT.buffer().writeShort(0);
		assertThat(readBy(failing, part)).isNull();
		assertThat(readBy(failing, rest)).isInstanceOf(IndexOutOfBoundsException.class);
		failing.close();

		this.given.addAll(List.of(whole, part, rest));
	}

	private static @Nullable Throwable readBy(FrameReader<?> reader, ByteBuf buffer) {
		return catchThrowable(() -> reader.read(BUFFERS.wrap(buffer), _ -> {
		}));
	}

}
