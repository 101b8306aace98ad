package io.kvorum.api;

import io.kvorum.wire.RequestHead;
import org.jspecify.annotations.Nullable;

/** Follows requests for entities and ranges, or some of them. */
public interface RequestTraces {

	/** Where nobody follows. */
	RequestTraces NONE = (_, _) -> null;

	/**
	 * A request has come.
	 * @param route its path, which is one of few
	 * @return told how it goes; null where this one is not followed
	 */
	@Nullable RequestTrace begin(RequestHead request, String route);

}
