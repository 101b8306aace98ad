package io.kvorum.api;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.clock.TimeSource;
import io.kvorum.operation.OperationObserver;
import io.kvorum.wire.RequestHead;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Where the time of a request went, for a client that asked for it: what is known when
 * the head of the answer leaves, as W3C Server Timing has it.
 */
final class ServerTiming implements OperationObserver {

	/** The header of a request that asks for it, with the value 1. */
	static final AsciiString ASKED = AsciiString.cached("Kvorum-Timing");

	/** The header of the answer. */
	static final AsciiString HEADER = AsciiString.cached("Server-Timing");

	/** Calls of replicas that are told; those of a range are without number. */
	static final int MAX_CALLS = 16;

	private static final String YES = "1";

	private static final int MICROS_OF_A_MILLI = 1000;

	private static final int NANOS_OF_A_MICRO = 1000;

	private final TimeSource time;

	private final long startedNanos;

	private final StringBuilder steps = new StringBuilder();

	private final List<TimedCall> calls = new ArrayList<>();

	/** Of a request that has just come. */
	ServerTiming(TimeSource time) {
		this.time = time;
		this.startedNanos = time.nanos();
	}

	static boolean isAskedFor(RequestHead request) {
		return YES.equals(request.header(ASKED));
	}

	@Override
	public synchronized void took(Step step, long nanos) {
		this.steps.append(", ").append(step.text());
		appendDuration(this.steps, nanos);
	}

	@Override
	public synchronized Call asked(String replica, Step step, boolean hedge) {
		if (this.calls.size() == MAX_CALLS) {
			return Call.UNOBSERVED;
		}
		TimedCall call = new TimedCall(replica, step, hedge);
		this.calls.add(call);
		return call;
	}

	/** The value of the header, as of now. */
	synchronized String header() {
		StringBuilder header = new StringBuilder("total");
		appendDuration(header, this.time.nanos() - this.startedNanos);
		header.append(this.steps);
		this.calls.forEach(call -> call.appendTo(header));
		return header.toString();
	}

	/** In milliseconds, to the microsecond. */
	private static void appendDuration(StringBuilder to, long nanos) {
		long micros = nanos / NANOS_OF_A_MICRO;
		long fraction = micros % MICROS_OF_A_MILLI;
		to.append(";dur=").append(micros / MICROS_OF_A_MILLI).append('.');
		to.append((fraction < 100) ? "0" : "").append((fraction < 10) ? "0" : "").append(fraction);
	}

	/** Guarded by the timing. */
	private final class TimedCall implements Call {

		private final String replica;

		private final Step step;

		private final boolean hedge;

		private @Nullable String outcome;

		private long nanos;

		TimedCall(String replica, Step step, boolean hedge) {
			this.replica = replica;
			this.step = step;
			this.hedge = hedge;
		}

		@Override
		public void ended(String outcome, long nanos) {
			synchronized (ServerTiming.this) {
				this.outcome = outcome;
				this.nanos = nanos;
			}
		}

		/** Addresses and words of ours: there is nothing to escape. */
		void appendTo(StringBuilder header) {
			header.append(", replica;desc=\"").append(this.replica).append(' ').append(this.step.text()).append(' ');
			header.append((this.outcome != null) ? this.outcome : "pending");
			header.append(this.hedge ? " hedge\"" : "\"");
			if (this.outcome != null) {
				appendDuration(header, this.nanos);
			}
		}

	}

}
