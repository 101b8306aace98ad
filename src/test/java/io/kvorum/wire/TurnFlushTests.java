package io.kvorum.wire;

import java.util.List;
import java.util.stream.IntStream;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The loop of an embedded channel runs its tasks if it is told to, and at a write. */
class TurnFlushTests {

	private static final int MAX_WAITING = 64;

	private final TurnFlush flush = TurnFlush.ofLoop();

	private static EmbeddedChannel connection() {
		return new EmbeddedChannel(new ChannelOutboundHandlerAdapter());
	}

	private static ChannelHandlerContext contextOf(EmbeddedChannel channel) {
		return channel.pipeline().firstContext();
	}

	private void answer(EmbeddedChannel channel, String answer) {
		ChannelHandlerContext context = contextOf(channel);
		var _ = context.write(answer);
		this.flush.add(context);
	}

	private static List<Object> sent(EmbeddedChannel channel) {
		return List.copyOf(channel.outboundMessages());
	}

	@Test
	void anAnswerLeavesAtTheEndOfTheTurn() {
		EmbeddedChannel channel = connection();
		answer(channel, "answer");
		assertThat(sent(channel)).isEmpty();
		channel.runPendingTasks();
		assertThat(sent(channel)).containsExactly("answer");
	}

	@Test
	void manyDoNotWaitForIt() {
		List<EmbeddedChannel> channels = IntStream.range(0, MAX_WAITING + 1).mapToObj(_ -> connection()).toList();
		channels.forEach(channel -> answer(channel, "answer"));
		assertThat(channels.subList(0, MAX_WAITING)).allSatisfy(channel -> assertThat(sent(channel)).hasSize(1));
		assertThat(sent(channels.getLast())).isEmpty();
		channels.forEach(EmbeddedChannel::runPendingTasks);
		assertThat(sent(channels.getLast())).hasSize(1);
	}

	@Test
	void whatIsWrittenDuringTheFlushLeavesToo() {
		EmbeddedChannel channel = connection();
		ChannelHandlerContext context = contextOf(channel);
		context.write("one").addListener(_ -> answer(channel, "two"));
		this.flush.add(context);
		channel.runPendingTasks();
		assertThat(sent(channel)).containsExactly("one", "two");
	}

	@Test
	void aConnectionThatIsClosedDoesNotKeepOthersWaiting() {
		EmbeddedChannel closed = connection();
		EmbeddedChannel channel = connection();
		answer(closed, "one");
		answer(channel, "two");
		assertThat(closed.close().isSuccess()).isTrue();
		channel.runPendingTasks();
		closed.runPendingTasks();
		assertThat(sent(channel)).containsExactly("two");
	}

}
