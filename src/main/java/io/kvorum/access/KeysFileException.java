package io.kvorum.access;

import java.util.List;

/**
 * A file of keys cannot be used. Has everything that is wrong with it, and nothing of
 * what stands in it but names of properties: somebody may have put a secret there.
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
