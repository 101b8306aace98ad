package io.kvorum.wire;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;
import reactor.netty.Connection;
import reactor.netty.ConnectionObserver;
import reactor.netty.channel.ChannelOperations;

import static org.assertj.core.api.Assertions.assertThat;

class ReactorNettyAnswererTests {

	private final EmbeddedChannel channel = new EmbeddedChannel();

	private final ReactorNettyAnswerer answerer = new ReactorNettyAnswerer();

	private final Connection connection = () -> this.channel;

	private final ChannelOperations<?, ?> operations = new ChannelOperations<>(this.connection,
			ConnectionObserver.emptyListener());

	@Test
	void itIsThroughUnlessItHasOperations() {
		assertThat(this.answerer.isThrough(this.channel)).isTrue();
		Connection bound = this.operations.bind();
		assertThat(this.answerer.isThrough(this.channel)).isFalse();
		bound.rebind(this.connection);

		assertThat(this.answerer.isThrough(this.channel)).isTrue();
	}

	@Test
	void itWantsABodyUntilItHasCancelledIt() {
		assertThat(this.answerer.isBodyWanted(this.channel)).isFalse();
		this.operations.bind();
		assertThat(this.answerer.isBodyWanted(this.channel)).isTrue();
		this.operations.receive().subscribe().dispose();
		this.channel.runPendingTasks();

		assertThat(this.answerer.isBodyWanted(this.channel)).isFalse();
	}

}
