package io.kvorum.api;

import io.kvorum.wire.RequestHead;
import org.jspecify.annotations.Nullable;

/** Traces requests for entities and ranges, or some of them. */
public interface RequestTraces {

	/** Traces nothing. */
	RequestTraces NONE = (_, _) -> null;

	/**
	 * Begins the trace of a request.
	 * @param route the path of the request, one of few
	 * @return the trace; null if this request is not traced
	 */
	@Nullable RequestTrace begin(RequestHead request, String route);

}
