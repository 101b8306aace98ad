package io.kvorum.transport;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PendingConnectionsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final PendingConnections pending = new PendingConnections(PATIENCE);

	private Connection from(String host) {
		Connection connection = new Connection(host);
		this.pending.arrived(connection);
		return connection;
	}

	@Test
	void oneMachineKeepsNoOtherOut() {
		IntStream.range(0, PendingConnections.MAX_OF_ADDRESS).forEach(_ -> from("10.0.0.1"));

		assertThat(from("10.0.0.1").isOpen()).isFalse();
		assertThat(from("10.0.0.2").isOpen()).isTrue();
	}

	@Test
	void aPlaceIsFreeWhenAConnectionIsAcceptedOrClosed() {
		Connection accepted = from("10.0.0.1");
		Connection closed = from("10.0.0.1");
		IntStream.range(2, PendingConnections.MAX_OF_ADDRESS).forEach(_ -> from("10.0.0.1"));

		this.pending.accepted(accepted);
		PendingConnections.close(closed);
		PendingConnections.close(closed);

		assertThat(from("10.0.0.1").isOpen()).isTrue();
		assertThat(from("10.0.0.1").isOpen()).isTrue();
		assertThat(from("10.0.0.1").isOpen()).isFalse();
	}

	@Test
	void machinesTogetherAreLimitedToo() {
		IntStream.range(0, PendingConnections.MAX).forEach(i -> from("10.0." + i / 250 + "." + i % 250));

		assertThat(from("10.1.0.1").isOpen()).isFalse();
	}

	@Test
	void whatIsNotAcceptedInTimeIsClosed() {
		Connection silent = from("10.0.0.1");
		Connection accepted = from("10.0.0.1");
		this.pending.accepted(accepted);

		silent.advanceTimeBy(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
		silent.runScheduledPendingTasks();
		accepted.advanceTimeBy(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
		accepted.runScheduledPendingTasks();

		assertThat(silent.isOpen()).isFalse();
		assertThat(accepted.isOpen()).isTrue();
	}

	private static final class Connection extends EmbeddedChannel {

		private final InetSocketAddress remote;

		Connection(String host) {
			this.remote = new InetSocketAddress(host, 1);
		}

		@Override
		protected SocketAddress remoteAddress0() {
			return this.remote;
		}

	}

}
