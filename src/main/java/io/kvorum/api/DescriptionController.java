package io.kvorum.api;

import java.util.Map;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Serves {@code /v0/openapi.yaml}: the description of the API as OpenAPI 3.1. */
@RestController
final class DescriptionController {

	static final String PATH = "/v0/openapi.yaml";

	/** RFC 9512. */
	private static final String MEDIA_TYPE = "application/yaml";

	private final StaticFile description = StaticFile.of("openapi.yaml", MEDIA_TYPE);

	@GetMapping(path = PATH, produces = MEDIA_TYPE)
	ResponseEntity<byte[]> description() {
		return this.description.answer(Map.of());
	}

}
