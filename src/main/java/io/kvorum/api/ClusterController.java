package io.kvorum.api;

import java.util.Map;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Serves {@code /v0/cluster}: all nodes, as this one sees them. */
@RestController
final class ClusterController {

	static final String PATH = "/v0/cluster";

	private final ClusterView cluster;

	ClusterController(ClusterView cluster) {
		this.cluster = cluster;
	}

	@GetMapping(PATH)
	Mono<Map<String, Object>> cluster() {
		return this.cluster.gather();
	}

}
