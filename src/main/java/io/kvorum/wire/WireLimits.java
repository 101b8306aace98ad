package io.kvorum.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.util.unit.DataSize;

/**
 * Limits of a connection, and of their number. Time limits are checked by a tick. The
 * tick is an eighth of the shortest time limit, without {@code lingerTimeout}, and at
 * most a second. A time limit is never enforced early, and at most two ticks late.
 *
 * @param maxConnections connections open at once; one more is closed as soon as it is
 * accepted. Each takes one of the process's open files
 * @param maxInitialLineLength the length of the request line; at least 4 KB, so that a
 * key of 1024 bytes fits with each byte percent-encoded
 * @param maxHeaderSize the size of all header lines of a request together
 * @param maxPipelinedSize the bytes that a client may send ahead while its request is
 * being answered; beyond them the socket is not read. One read may overshoot it
 * @param maxLingerSize the bytes that are read and thrown away after a response that came
 * before the end of its request, so that the client gets to read the response
 * @param idleTimeout the time of a keep-alive connection without a request
 * @param headerTimeout the time from the first byte of a request to the end of its
 * headers; that of a connection's first request begins at accept
 * @param bodyStallTimeout the time without a byte of a body that the application awaits
 * @param bodyTimeout the time of a whole body, from the end of the headers, and that in
 * which the client takes a response that is written at once; at least the
 * {@code bodyStallTimeout}
 * @param writeStallTimeout the time in which the client takes no byte of the response
 * @param streamStallTimeout the same for answers without a bound
 * @param lingerTimeout the time of reading and throwing away, see {@code maxLingerSize}
 */
public record WireLimits(int maxConnections, DataSize maxInitialLineLength, DataSize maxHeaderSize,
		DataSize maxPipelinedSize, DataSize maxLingerSize, Duration idleTimeout, Duration headerTimeout,
		Duration bodyStallTimeout, Duration bodyTimeout, Duration writeStallTimeout, Duration streamStallTimeout,
		Duration lingerTimeout) {

	/** The default of the length of the request line, which a refusal names. */
	static final int LINE_BYTES = 8 << 10;

	/** The default of the size of all header lines, which a refusal names. */
	static final int HEADERS_BYTES = 16 << 10;

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

	/** The limits of a port that anyone may reach. */
	public static WireLimits defaults() {
		return new WireLimits(10_000, DataSize.ofBytes(LINE_BYTES), DataSize.ofBytes(HEADERS_BYTES),
				DataSize.ofKilobytes(64), DataSize.ofMegabytes(4), Duration.ofSeconds(60), Duration.ofSeconds(10),
				Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofSeconds(30),
				Duration.ofSeconds(2));
	}

	/** The interval at which a connection checks its time limits. */
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
