package io.kvorum.access;

import java.util.List;

/**
 * A keys file cannot be used. The message has all problems, and nothing of the content
 * but names of properties: a value may be a secret.
 */
public final class KeysFileException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	public KeysFileException(String what) {
		super(what, null, false, false);
	}

	KeysFileException(List<String> violations) {
		this(String.join("\n    ", violations));
	}

}
