package io.kvorum.process;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.Nodes;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.Together;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("More writes than a node has room for")
class OverloadIT {

	private static final int CONNECTIONS = 64;

	private static final int WRITES = 50;

	@RegisterExtension
	final Nodes nodes = new Nodes();

	@Test
	@DisplayName("64 connections and room for one write: each connection serves all its requests, what was refused is not there, what was accepted is, all are counted")
	void queueOfOne() throws InterruptedException {
		NodeProcess node = this.nodes.start(this.nodes.spec().with("kvorum.storage.write-queue-length=1"));
		KvorumClient client = node.client();
		double before = client.metric("kvorum_storage_overloaded_total");

		List<Integer> statuses = Together.run(CONNECTIONS, number -> writes(node.port(), number))
			.stream()
			.flatMap(List::stream)
			.toList();

		assertThat(statuses).hasSize(CONNECTIONS * WRITES).containsOnly(201, 503).contains(201, 503);
		double refused = statuses.stream().filter(status -> status == 503).count();
		// What the node writes for itself is refused as well.
		assertThat(client.metric("kvorum_storage_overloaded_total") - before).isGreaterThanOrEqualTo(refused);
		assertThat(client.metric("http_server_requests_seconds_count{error=\"none\",exception=\"none\",method=\"PUT\","
				+ "outcome=\"SERVER_ERROR\",status=\"503\",uri=\"/v0/entity\"}"))
			.isEqualTo(refused);
	}

	/**
	 * Writes on one connection, each followed by a look for it; returns what they got.
	 */
	private static Callable<List<Integer>> writes(int port, int connection) {
		return () -> {
			List<Integer> statuses = new ArrayList<>();
			try (RawHttp http = RawHttp.connect(port)) {
				for (int i = 0; i < WRITES; i++) {
					String target = KvorumClient.entity("key " + connection + " " + i);
					int written = status(http,
							"PUT " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nvalue");
					int found = status(http, "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
					assertThat(found).isEqualTo((written == 201) ? 200 : 404);
					statuses.add(written);
				}
			}
			return statuses;
		};
	}

	private static int status(RawHttp http, String request) {
		Response response = http.send(request).read();
		if (response == null) {
			throw new AssertionError("the connection was closed without an answer");
		}
		return response.status();
	}

}
