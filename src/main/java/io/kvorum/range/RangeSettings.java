package io.kvorum.range;

import java.time.Duration;

import io.kvorum.storage.Page;

/**
 * The limits of ranges.
 *
 * @param maxConcurrent the most open ranges on this node
 * @param maxBytes the memory of all open ranges; each takes {@link #bytesOf(int)} of it
 * @param pageBytes the size of a page of a replica and of a piece of the answer; up to
 * {@value Page.Limit#MAX_BYTES}
 * @param maxValueBytes the longest value
 * @param pageTimeout the time that a replica has for a page, or for a large value
 */
public record RangeSettings(int maxConcurrent, long maxBytes, int pageBytes, long maxValueBytes, Duration pageTimeout) {

	/** The number of pieces of the answer that are on their way to the client. */
	private static final int PIECES = 2;

	/**
	 * The memory of a large value, in its lengths: the page that it was read into, the
	 * encoded answer, and the copy of that for the network. Base64 makes each of the last
	 * two a third longer.
	 */
	private static final int COPIES = 4;

	/**
	 * The most memory that a range takes, in bytes.
	 * @param replicas the number of replicas that it reads
	 */
	public long bytesOf(int replicas) {
		long page = (long) this.pageBytes + Page.SLACK_BYTES;
		return page * ((long) replicas * RangeMerge.MAX_PAGES + PIECES) + COPIES * this.maxValueBytes;
	}

}
