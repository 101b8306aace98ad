package io.kvorum.api;

import reactor.core.publisher.Mono;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Serves {@code /v0/openapi.yaml}: the description of the API as OpenAPI 3.1. */
@RestController
final class DescriptionController {

	static final String PATH = "/v0/openapi.yaml";

	/** RFC 9512. */
	private static final String MEDIA_TYPE = "application/yaml";

	private static final Resource DESCRIPTION = new ClassPathResource("openapi.yaml");

	@GetMapping(path = PATH, produces = MEDIA_TYPE)
	Mono<Resource> description() {
		return Mono.just(DESCRIPTION);
	}

}
