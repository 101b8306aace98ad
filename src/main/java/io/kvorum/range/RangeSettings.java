package io.kvorum.range;

import java.time.Duration;

import io.kvorum.storage.Page;

/**
 * The limits of ranges.
 *
 * @param maxConcurrent ranges under way on this node
 * @param maxBytes memory for them all: each takes {@link #bytesOf(int)} of it
 * @param pageBytes how much a replica shows at a time, and how much is told at a time; up
 * to {@value Page.Limit#MAX_BYTES}
 * @param maxValueBytes the longest value
 * @param pageTimeout how long a replica may take for a page, or for a large value
 */
public record RangeSettings(int maxConcurrent, long maxBytes, int pageBytes, long maxValueBytes, Duration pageTimeout) {

	/** Pieces of the answer on their way to the client. */
	private static final int PIECES = 2;

	/** A large value as it was read, as it is told, and as the network takes it. */
	private static final int COPIES = 4;

	/** The most that a range over so many replicas takes, in bytes. */
	public long bytesOf(int replicas) {
		long page = (long) this.pageBytes + Page.SLACK_BYTES;
		return page * ((long) replicas * RangeMerge.MAX_PAGES + PIECES) + COPIES * this.maxValueBytes;
	}

}
