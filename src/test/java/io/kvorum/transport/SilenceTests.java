package io.kvorum.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Ports;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;

/** What looks like a silent peer, and is none. */
class SilenceTests {

	private static final Key KEY = Generator.key("key");

	private static final Duration SILENCE = Duration.ofSeconds(1);

	private static final TransportSettings SETTINGS = TransportNodes.settings("the secret", 100, SILENCE);

	/** It takes 1.5 s, and may take a second and 1.8, whatever its own deadline is. */
	@ParameterizedTest
	@CsvSource({ "10000, INSTANCE", "1200, TIMEOUT" })
	void aLargeEntryOnItsWayOverASlowLinkIsNoSilence(int millis, String outcome) throws IOException {
		try (TransportNodes nodes = new TransportNodes(2)) {
			InetSocketAddress behind = new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free());
			try (SlowLink _ = new SlowLink(TransportNodes.socketAddress(nodes.addresses.get(1)), behind.getPort(),
					1_200_000)) {
				nodes.start(nodes.replica(1), SETTINGS, nodes.topology, TransportEvents.NONE, behind,
						TimeSource.SYSTEM);
				ReplicaTransport here = nodes.start(nodes.replica(0), SETTINGS);
				nodes.awaitThere(here, 1);

				Reply reply = TransportNodes
					.reply(store(nodes, here, 1_800_000, TransportNodes.in(Duration.ofMillis(millis))));

				assertThat(reply).asString().contains(outcome);
				// On the same stream, behind it.
				assertThat(TransportNodes.reply(store(nodes, here, 20_000, TransportNodes.soon())))
					.isEqualTo(Acknowledged.INSTANCE);
			}
		}
	}

	@Test
	void aNodeThatStoodStillBlamesNoPeer() {
		AtomicLong missed = new AtomicLong();
		Sinks.One<Reply> answer = Sinks.one();
		try (TransportNodes nodes = new TransportNodes(2)) {
			TestReplica far = nodes.replica(1);
			far.script(one -> (one.call() == TransportEvents.Call.STORE) ? answer.asMono() : far.fromMemory(one));
			nodes.start(far, SETTINGS);
			TestReplica local = nodes.replica(0);
			ReplicaTransport here = nodes.start(local, SETTINGS, nodes.topology, TransportEvents.NONE,
					TransportNodes.socketAddress(local.member().address()), later(missed));
			nodes.awaitThere(here, 1);
			CompletableFuture<@Nullable Reply> stored = store(nodes, here, 100, TransportNodes.soon()).toFuture();
			TransportNodes.await("the peer has it", () -> answer.currentSubscriberCount() > 0);

			missed.set(TimeUnit.SECONDS.toNanos(4));
			assertThat(nodes.isThere(here, 1)).isTrue();
			TransportNodes.await("it has looked again",
					() -> nodes.remote(here, 1).expectedNanos() < SILENCE.toNanos());
			answer.tryEmitValue(Acknowledged.INSTANCE);

			assertThat(TransportNodes.reply(Mono.fromFuture(stored))).isEqualTo(Acknowledged.INSTANCE);
		}
	}

	/** The clocks of a node that stood still for so many nanoseconds. */
	private static TimeSource later(AtomicLong missed) {
		return new TimeSource() {

			@Override
			public long millis() {
				return TimeSource.SYSTEM.millis();
			}

			@Override
			public long nanos() {
				return TimeSource.SYSTEM.nanos() + missed.get();
			}

		};
	}

	private static Mono<Reply> store(TransportNodes nodes, ReplicaTransport here, int bytes, Deadline deadline) {
		Live entry = new Live(new Version(9, 9), 2, Live.NEVER, "a/b", Value.of(new byte[bytes]));
		return nodes.remote(here, 1).store(KEY, entry, Purpose.WRITE, deadline);
	}

}
