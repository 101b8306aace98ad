package io.kvorum.wire;

import org.jspecify.annotations.Nullable;

/** The head of an HTTP request. */
public interface RequestHead {

	/** The method as the client sent it, in any case. */
	String method();

	/** {@code http} or {@code https}. */
	String scheme();

	/** The first header with this name. */
	@Nullable String header(CharSequence name);

}
