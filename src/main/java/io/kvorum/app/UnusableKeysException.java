package io.kvorum.app;

import java.nio.file.Path;

import io.kvorum.access.KeysFileException;

/** Signals that a node does not start, since it has no usable API keys. */
final class UnusableKeysException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	UnusableKeysException(Path path, KeysFileException why) {
		this("The API keys in %s (kvorum.access.keys-file) cannot be used:\n\n    %s".formatted(path,
				why.getMessage()));
	}

	UnusableKeysException(String what) {
		super(what);
	}

}
