package io.kvorum.api;

import io.kvorum.clock.TimeSource;
import io.kvorum.operation.OperationObserver;
import io.kvorum.wire.HttpExchange;
import org.jspecify.annotations.Nullable;

/**
 * Observes requests that were admitted: for their traces, for clients that ask for
 * {@link ServerTiming}, and for the log of slow ones.
 */
final class RequestObservations {

	private final RequestTraces traces;

	private final SlowRequests slow;

	private final TimeSource time;

	RequestObservations(RequestTraces traces, SlowRequests slow, TimeSource time) {
		this.traces = traces;
		this.slow = slow;
		this.time = time;
	}

	/**
	 * Begins the observation of a request.
	 * @param route the path of the request, one of few
	 */
	RequestObservation begin(HttpExchange exchange, String route) {
		RequestTrace trace = this.traces.begin(exchange, route);
		boolean isAskedFor = ServerTiming.isAskedFor(exchange);
		if (!isAskedFor && !this.slow.areLogged()) {
			return (trace != null) ? new RequestObservation(trace, trace::answered) : RequestObservation.NONE;
		}
		ServerTiming timing = new ServerTiming(this.time);
		if (isAskedFor) {
			exchange.beforeCommit(() -> exchange.set(ServerTiming.HEADER, timing.header()));
		}
		String method = exchange.method();
		return new RequestObservation(OperationObserver.both(trace, timing),
				status -> end(trace, timing, method, route, status));
	}

	private void end(@Nullable RequestTrace trace, ServerTiming timing, String method, String route, int status) {
		if (trace != null) {
			trace.answered(status);
		}
		this.slow.ended(method, route, status, timing, this.time.nanos());
	}

}
