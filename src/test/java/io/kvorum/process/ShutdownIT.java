package io.kvorum.process;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.kvorum.testing.Clients;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.Ledger;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.NodeProcess.Exit;
import io.kvorum.testing.NodeSpec;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.RawHttp;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Start and stop")
class ShutdownIT {

	private static final int ENDED_BY_SIGTERM = 143;

	@RegisterExtension
	final Nodes nodes = new Nodes();

	private NodeProcess startTheJar() throws InterruptedException {
		return this.nodes.start(NodeSpec.ofTheJarOn(this.nodes.spec().data()));
	}

	@Test
	@DisplayName("the jar as users run it, an empty directory, no other settings: the log has no warning, and one line names directory, durability and port")
	void normalStart() throws InterruptedException {
		NodeProcess node = startTheJar();

		assertThat(node.log().lines()).noneMatch((line) -> line.contains("WARN") || line.contains("ERROR"))
			.anyMatch((line) -> line.contains(node.spec().data().toString()) && line.contains("fsync")
					&& line.contains(Integer.toString(node.port())));
	}

	@Test
	@DisplayName("SIGTERM of the jar as users run it, under load: ends in under 10 s without an error, and everything acknowledged is there afterwards")
	void underLoad() throws Exception {
		Ledger ledger = new Ledger();
		Clients clients = new Clients(ledger);
		List<String> keys = IntStream.range(0, 10_000).mapToObj((i) -> "key " + i).toList();
		NodeProcess node = startTheJar();

		FutureTask<Exit> stop = new FutureTask<>(node::stop);
		clients.write(node.client(), keys, 1, (acknowledged) -> {
			if (acknowledged == 2_000) {
				Thread.startVirtualThread(stop);
			}
		});

		Exit exit = stop.get(1, TimeUnit.MINUTES);
		assertThat(exit.code()).isIn(0, ENDED_BY_SIGTERM);
		assertThat(exit.after()).isLessThan(Duration.ofSeconds(10));
		assertThat(node.log().lines()).noneMatch((line) -> line.contains("ERROR"));
		clients.check(this.nodes.start().client(), List.copyOf(ledger.keys()));
	}

	@Test
	@DisplayName("SIGTERM while the body of a PUT is on its way: the PUT is answered with 201, stored, and then the node ends")
	void requestInFlight() throws InterruptedException {
		NodeProcess node = this.nodes.start();
		String head = "PUT " + KvorumClient.entity("in flight")
				+ " HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n";

		try (RawHttp connection = RawHttp.connect(node.port())) {
			assertThat(connection.send(head).readStatus().status()).isEqualTo(100);
			connection.send("01234");
			node.terminateAndAwait("takes no more connections");
			assertThat(connection.send("56789").readStatus().status()).isEqualTo(201);
		}

		assertThat(node.awaitExit()).isIn(0, ENDED_BY_SIGTERM);
		assertThat(this.nodes.start().client().get("in flight").text()).isEqualTo("0123456789");
	}

}
