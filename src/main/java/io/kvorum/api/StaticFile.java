package io.kvorum.api;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

import org.springframework.core.io.ClassPathResource;
import org.springframework.http.CacheControl;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;

/**
 * A file of the jar, in memory: to read it while a request waits would hold up an event
 * loop.
 */
final class StaticFile {

	private final byte[] content;

	private final MediaType type;

	private StaticFile(byte[] content, MediaType type) {
		this.content = content;
		this.type = type;
	}

	static StaticFile of(String name, String type) {
		try {
			return new StaticFile(new ClassPathResource(name).getContentAsByteArray(), MediaType.parseMediaType(type));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** An answer with the file, for which a cache has to ask. */
	ResponseEntity<byte[]> answer(Map<String, String> headers) {
		return ResponseEntity.ok()
			.contentType(this.type)
			.cacheControl(CacheControl.noCache())
			.headers(it -> headers.forEach(it::set))
			.body(this.content);
	}

}
