package io.kvorum.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.Nodes;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Which engine a process loads. */
@DisplayName("The engine")
class EngineIT {

	@RegisterExtension
	final Nodes nodes = new Nodes();

	@Test
	@DisplayName("a node with a store loads nothing of Cassandra's driver, a gateway nothing of RocksDB")
	void classes(@TempDir Path directory) throws IOException, InterruptedException {
		Path ofNode = directory.resolve("node");
		Path ofGateway = directory.resolve("gateway");
		NodeProcess node = this.nodes.start(this.nodes.spec().withJvm("-Xlog:class+load:file=" + ofNode));
		NodeProcess gateway = this.nodes.launch(this.nodes.spec()
			.with("kvorum.engine=cassandra", "spring.cassandra.local-datacenter=none",
					"spring.cassandra.contact-points=127.0.0.1:9")
			// The cache has what a node loads.
			.withJvm("-XX:AOTMode=off", "-Xlog:class+load:file=" + ofGateway));

		assertThat(node.client().put("key", "value").status()).isEqualTo(201);
		assertThat(gateway.answers()).isTrue();
		EntityApiIT.assertProblem(gateway.client().get("key"), 503);
		assertThat(gateway.client().exchange("GET", "/actuator/health/liveness").status()).isEqualTo(200);
		assertThat(gateway.client().exchange("GET", "/actuator/health/joined").status()).isEqualTo(503);
		assertThat(gateway.client().exchange("GET", "/actuator/prometheus").text())
			.contains("kvorum_gateway_usable 0.0");

		assertThat(loaded(ofNode, "com.datastax.")).isEmpty();
		assertThat(loaded(ofNode, "org.rocksdb.")).isNotEmpty();
		assertThat(loaded(ofGateway, "org.rocksdb.")).isEmpty();
		assertThat(loaded(ofGateway, "com.datastax.")).isNotEmpty();
	}

	private static List<String> loaded(Path log, String beginning) throws IOException {
		try (Stream<String> lines = Files.lines(log)) {
			return lines.filter(line -> line.contains("] " + beginning)).limit(3).toList();
		}
	}

}
