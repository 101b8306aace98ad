package io.kvorum.observability;

import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.api.RequestTrace;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangeScope;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;

/** Span of an operation, with a child span for each of its calls of replicas. */
final class OperationSpan implements RequestTrace {

	/**
	 * Limit of the calls that get a span. Operations on keys have fewer; a range over a
	 * large store has a call for each page.
	 */
	static final int MAX_CALLS = 128;

	private static final int FIRST_SERVER_ERROR = 500;

	private static final String OK = "ok";

	private final Span span;

	/** The context of this span, the parent of the calls' spans. */
	private final Context context;

	private final Tracer tracer;

	private final String self;

	private final AtomicInteger calls = new AtomicInteger();

	OperationSpan(Span span, Context context, Tracer tracer, String self) {
		this.span = span;
		this.context = context;
		this.tracer = tracer;
		this.self = self;
	}

	@Override
	public void began(Replicas asked, Consistency consistency) {
		this.span.setAttribute(SpanAttributes.ACK, (long) asked.ack());
		this.span.setAttribute(SpanAttributes.FROM, (long) asked.from());
		this.span.setAttribute(SpanAttributes.CONSISTENCY, ReplicationMeters.text(consistency));
	}

	@Override
	public void began(RangeScope scope) {
		this.span.setAttribute(SpanAttributes.SCOPE, ReplicationMeters.text(scope));
	}

	@Override
	public Call asked(String replica, Step step, boolean hedge) {
		if (this.calls.getAndIncrement() >= MAX_CALLS) {
			return Call.UNOBSERVED;
		}
		Span call = this.tracer.spanBuilder("replica " + step.text())
			.setParent(this.context)
			.setSpanKind(replica.equals(this.self) ? SpanKind.INTERNAL : SpanKind.CLIENT)
			.startSpan();
		call.setAttribute(SpanAttributes.REPLICA, replica);
		call.setAttribute(SpanAttributes.STEP, step.text());
		if (hedge) {
			call.setAttribute(SpanAttributes.HEDGE, true);
		}
		return (outcome, _) -> end(call, outcome);
	}

	@Override
	public void attempted(int attempt) {
		this.span.setAttribute(SpanAttributes.ATTEMPTS, (long) attempt);
	}

	private static void end(Span call, String outcome) {
		call.setAttribute(SpanAttributes.OUTCOME, outcome);
		if (!outcome.equals(OK) && !outcome.equals(Call.CANCELLED)) {
			call.setAttribute(SpanAttributes.ERROR, outcome);
			call.setStatus(StatusCode.ERROR);
		}
		call.end();
	}

	@Override
	public void decided(Outcome outcome) {
		this.span.setAttribute(SpanAttributes.OUTCOME, ReplicationMeters.text(outcome));
	}

	@Override
	public void ended(RangeOutcome outcome) {
		this.span.setAttribute(SpanAttributes.OUTCOME, ReplicationMeters.text(outcome));
	}

	@Override
	public void answered(int status) {
		if (status == 0) {
			this.span.setAttribute(SpanAttributes.ERROR, Call.CANCELLED);
		}
		else {
			this.span.setAttribute(SpanAttributes.STATUS, (long) status);
		}
		if (status >= FIRST_SERVER_ERROR) {
			this.span.setAttribute(SpanAttributes.ERROR, Integer.toString(status));
			this.span.setStatus(StatusCode.ERROR);
		}
		int omitted = this.calls.get() - MAX_CALLS;
		if (omitted > 0) {
			this.span.setAttribute(SpanAttributes.CALLS_OMITTED, (long) omitted);
		}
		this.span.end();
	}

}
