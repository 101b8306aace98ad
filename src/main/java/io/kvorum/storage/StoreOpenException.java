package io.kvorum.storage;

import org.jspecify.annotations.Nullable;

/** Failure to open a store, with advice for an operator. */
public final class StoreOpenException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String action;

	public StoreOpenException(String what, String action, @Nullable Throwable cause) {
		super(what, cause);
		this.action = action;
	}

	public StoreOpenException(String what, String action) {
		super(what);
		this.action = action;
	}

	/** The advice for an operator, in sentences. */
	public String action() {
		return this.action;
	}

}
