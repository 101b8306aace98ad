package io.kvorum.storage;

/** Bytes that should be an entry are not. */
public final class DamagedEntryException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	DamagedEntryException(String why) {
		super("a stored entry is damaged: " + why);
	}

}
