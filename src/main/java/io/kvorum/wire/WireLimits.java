package io.kvorum.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.util.unit.DataSize;

/**
 * What one connection may take, and how many there may be. A time limit is looked at by a
 * tick of an eighth of the shortest of them but the last (at most a second): it is never
 * enforced early, and late by two ticks at the most.
 *
 * @param maxConnections connections open at once; one more is closed as soon as it is
 * accepted. Relates to the process's limit of open files
 * @param maxInitialLineLength of the request line; at least 4 KB, so that a key of 1024
 * bytes fits with each byte percent-encoded
 * @param maxHeaderSize all header lines of a request together
 * @param maxPipelinedSize what a client may send ahead while a request of its connection
 * is being answered; beyond it the socket is not read until there is room. Overshot by
 * one read at the most
 * @param maxLingerSize what is read and thrown away after a response that came before the
 * end of its request, so that the client gets to read the response
 * @param idleTimeout of a keep-alive connection without a request
 * @param headerTimeout from the first byte of a request (from accept, for the first
 * request of a connection) to the end of its headers
 * @param bodyStallTimeout without a byte of the body that the application waits for
 * @param bodyTimeout of a whole body, from the end of its headers. At least the
 * {@code bodyStallTimeout}
 * @param writeStallTimeout without a byte of the response taken by the client
 * @param streamStallTimeout the same for answers that are as long as they like
 * @param lingerTimeout how long is read and thrown away, see {@code maxLingerSize}
 */
public record WireLimits(int maxConnections, DataSize maxInitialLineLength, DataSize maxHeaderSize,
		DataSize maxPipelinedSize, DataSize maxLingerSize, Duration idleTimeout, Duration headerTimeout,
		Duration bodyStallTimeout, Duration bodyTimeout, Duration writeStallTimeout, Duration streamStallTimeout,
		Duration lingerTimeout) {

	private static final long TICKS_PER_TIMEOUT = 8;

	private static final Duration LONGEST_TICK = Duration.ofSeconds(1);

	public WireLimits {
		List<String> violations = new ArrayList<>();
		requireAtLeast(violations, "maxConnections", maxConnections, 1);
		requireBytes(violations, "maxInitialLineLength", maxInitialLineLength, 4096);
		requireBytes(violations, "maxHeaderSize", maxHeaderSize, 1024);
		requireBytes(violations, "maxPipelinedSize", maxPipelinedSize, 1024);
		requireBytes(violations, "maxLingerSize", maxLingerSize, 0);
		requireTime(violations, "idleTimeout", idleTimeout);
		requireTime(violations, "headerTimeout", headerTimeout);
		requireTime(violations, "bodyStallTimeout", bodyStallTimeout);
		requireTime(violations, "bodyTimeout", bodyTimeout);
		requireTime(violations, "writeStallTimeout", writeStallTimeout);
		requireTime(violations, "streamStallTimeout", streamStallTimeout);
		requireTime(violations, "lingerTimeout", lingerTimeout);
		if (bodyTimeout.compareTo(bodyStallTimeout) < 0) {
			violations.add("bodyTimeout = " + bodyTimeout + " must not be shorter than bodyStallTimeout = "
					+ bodyStallTimeout);
		}
		if (!violations.isEmpty()) {
			throw new IllegalArgumentException("Limits of the HTTP port: " + String.join("; ", violations));
		}
	}

	/** Limits for a port that anyone may reach. */
	public static WireLimits defaults() {
		return new WireLimits(10_000, DataSize.ofKilobytes(8), DataSize.ofKilobytes(16), DataSize.ofKilobytes(64),
				DataSize.ofMegabytes(4), Duration.ofSeconds(60), Duration.ofSeconds(10), Duration.ofSeconds(10),
				Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(2));
	}

	/** How often a connection looks at its time limits. */
	Duration tick() {
		Duration shortest = Stream
			.of(this.idleTimeout, this.headerTimeout, this.bodyStallTimeout, this.writeStallTimeout,
					this.streamStallTimeout)
			.min(Duration::compareTo)
			.orElseThrow();
		Duration tick = shortest.dividedBy(TICKS_PER_TIMEOUT);
		return (tick.compareTo(LONGEST_TICK) < 0) ? tick : LONGEST_TICK;
	}

	private static void requireAtLeast(List<String> violations, String name, long value, long least) {
		if (value < least) {
			violations.add(name + " = " + value + " must be at least " + least);
		}
	}

	private static void requireBytes(List<String> violations, String name, DataSize value, long leastBytes) {
		if (value.toBytes() < leastBytes || value.toBytes() > Integer.MAX_VALUE) {
			violations.add(name + " = " + value + " must be from " + leastBytes + "B to " + Integer.MAX_VALUE + "B");
		}
	}

	private static void requireTime(List<String> violations, String name, Duration value) {
		if (value.compareTo(Duration.ofMillis(TICKS_PER_TIMEOUT)) < 0) {
			violations.add(name + " = " + value + " must be at least " + TICKS_PER_TIMEOUT + "ms");
		}
	}

}
