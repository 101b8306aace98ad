package io.kvorum.api;

import java.util.function.Supplier;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Serves {@code /v0/status}: the identity, the version and the cluster of this node. */
@RestController
final class StatusController {

	static final String PATH = "/v0/status";

	private final Supplier<NodeStatus> status;

	StatusController(Supplier<NodeStatus> status) {
		this.status = status;
	}

	@GetMapping(PATH)
	Mono<NodeStatus> status() {
		return Mono.fromSupplier(this.status);
	}

}
