package io.kvorum.storage;

/** Stored or received bytes are not the entry that they should be. */
public final class DamagedEntryException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	DamagedEntryException(String why) {
		super("a stored entry is damaged: " + why);
	}

}
