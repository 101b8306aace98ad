package io.kvorum.wire;

import java.time.Duration;

import io.kvorum.wire.ConnectionState.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a connection has taken too long. It sees the connection at every tick. A
 * phase begins with the first tick that sees it, so phases cost a request nothing. Pure:
 * time is an argument.
 */
final class Patience {

	private final WireLimits limits;

	private Phase phase = Phase.NEW;

	private int requests;

	private long bodyBytes;

	private long since;

	private long stalledSince;

	Patience(WireLimits limits, long now) {
		this.limits = limits;
		this.since = now;
	}

	/**
	 * The time limit that the connection has met, if any. Its clocks start anew then.
	 * @param requests the number of requests so far: tells two phases of a kind apart
	 * @param bodyBytes the bytes of all bodies so far
	 * @param wanted whether the body's next byte is awaited, and not the application
	 * @param now in nanoseconds
	 */
	@Nullable Timeout look(Phase phase, int requests, long bodyBytes, boolean wanted, long now) {
		if (phase != this.phase || requests != this.requests) {
			enter(phase, requests, now);
		}
		if (bodyBytes != this.bodyBytes || !wanted) {
			this.bodyBytes = bodyBytes;
			this.stalledSince = now;
		}
		Timeout met = met(now);
		if (met != null) {
			this.since = now;
			this.stalledSince = now;
		}
		return met;
	}

	private void enter(Phase phase, int requests, long now) {
		boolean firstHead = this.phase == Phase.NEW && phase == Phase.HEAD;
		this.phase = phase;
		this.requests = requests;
		this.since = firstHead ? this.since : now;
		this.stalledSince = now;
	}

	private @Nullable Timeout met(long now) {
		return switch (this.phase) {
			case NEW, HEAD -> isOver(this.limits.headerTimeout(), this.since, now) ? Timeout.HEADER : null;
			case IDLE -> isOver(this.limits.idleTimeout(), this.since, now) ? Timeout.IDLE : null;
			case LINGERING -> isOver(this.limits.lingerTimeout(), this.since, now) ? Timeout.LINGER : null;
			case SERVING -> null;
			case SENDING -> isOver(this.limits.bodyTimeout(), this.since, now) ? Timeout.WRITE_STALL : null;
			case BODY -> {
				if (isOver(this.limits.bodyTimeout(), this.since, now)) {
					yield Timeout.BODY;
				}
				yield isOver(this.limits.bodyStallTimeout(), this.stalledSince, now) ? Timeout.BODY_STALL : null;
			}
		};
	}

	private static boolean isOver(Duration limit, long since, long now) {
		return now - since >= limit.toNanos();
	}

}
