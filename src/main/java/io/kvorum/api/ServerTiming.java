package io.kvorum.api;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.clock.TimeSource;
import io.kvorum.operation.OperationObserver;
import io.kvorum.wire.RequestHead;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Measures where the time of a request goes. For a client that asks for it the answer
 * reports what is known when its head is sent, as W3C Server Timing defines.
 */
final class ServerTiming implements OperationObserver {

	/** The header of a request that asks for it, with the value 1. */
	static final AsciiString ASKED = AsciiString.cached("Kvorum-Timing");

	/** The header of the answer. */
	static final AsciiString HEADER = AsciiString.cached("Server-Timing");

	/**
	 * The most calls of replicas that are reported: the operation on a range may make any
	 * number.
	 */
	static final int MAX_CALLS = 16;

	private static final String YES = "1";

	private static final int MICROS_OF_A_MILLI = 1000;

	private static final int NANOS_OF_A_MICRO = 1000;

	private final TimeSource time;

	private final long startedNanos;

	private final StringBuilder steps = new StringBuilder();

	private final List<TimedCall> calls = new ArrayList<>();

	/** Begins at the arrival of a request. */
	ServerTiming(TimeSource time) {
		this.time = time;
		this.startedNanos = time.nanos();
	}

	long startedNanos() {
		return this.startedNanos;
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

	/** Returns the value of the header at this moment. */
	synchronized String header() {
		StringBuilder header = new StringBuilder("total");
		appendDuration(header, this.time.nanos() - this.startedNanos);
		header.append(this.steps);
		this.calls.forEach(call -> call.appendTo(header));
		return header.toString();
	}

	/** Appends a duration in milliseconds, with three decimals. */
	private static void appendDuration(StringBuilder to, long nanos) {
		long micros = nanos / NANOS_OF_A_MICRO;
		long fraction = micros % MICROS_OF_A_MILLI;
		to.append(";dur=").append(micros / MICROS_OF_A_MILLI).append('.');
		to.append((fraction < 100) ? "0" : "").append((fraction < 10) ? "0" : "").append(fraction);
	}

	/** A call of a replica; guarded by the timing. */
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

		/** Appends addresses and names of steps, which need no escaping. */
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
