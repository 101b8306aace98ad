package io.kvorum.cli;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/** The target of a request, with its parameters. */
final class Target {

	private final StringBuilder text;

	private char separator = '?';

	private Target(String path) {
		this.text = new StringBuilder(path);
	}

	static Target of(String path) {
		return new Target(path);
	}

	/** Of an entity. */
	static Target entity(String key) {
		return of("/v0/entity").with("id", key);
	}

	/** Adds a parameter; none if the value is null. */
	Target with(String name, @Nullable Object value) {
		if (value != null) {
			this.text.append(this.separator)
				.append(name)
				.append('=')
				.append(URLEncoder.encode(String.valueOf(value), StandardCharsets.UTF_8));
			this.separator = '&';
		}
		return this;
	}

	@Override
	public String toString() {
		return this.text.toString();
	}

}
