package io.kvorum.api;

import java.util.function.IntConsumer;

import io.kvorum.operation.OperationObserver;

/**
 * The observation of one request.
 *
 * @param observer observes the operation
 * @param end is told the HTTP status in the end; 0 if the client went away before the
 * answer
 */
record RequestObservation(OperationObserver observer, IntConsumer end) {

	/** For requests that are not observed. */
	static final RequestObservation NONE = new RequestObservation(OperationObserver.NONE, _ -> {
	});

	void answered(int status) {
		this.end.accept(status);
	}

}
