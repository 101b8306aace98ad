package io.kvorum.api;

import org.jspecify.annotations.Nullable;

/** What came first of a request. */
public interface RequestHead {

	/** In capitals; what a client sent, whatever it is. */
	String method();

	/** {@code http} or {@code https}. */
	String scheme();

	/** The first header of the request by this name. */
	@Nullable String header(CharSequence name);

}
