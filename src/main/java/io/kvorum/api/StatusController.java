package io.kvorum.api;

import java.util.function.Supplier;

import reactor.core.publisher.Mono;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** {@code /v0/status}: that this node serves, and who it is. */
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
