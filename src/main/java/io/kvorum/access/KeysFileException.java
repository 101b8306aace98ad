package io.kvorum.access;

import java.util.List;

/**
 * Signals a keys file that cannot be used. The message lists the problems and quotes only
 * names of properties, since a value may be a secret.
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
