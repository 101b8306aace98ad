package io.kvorum.replication;

import io.kvorum.quorum.Reply;

/** The reply to a query of a peer. */
public final class Answered implements Reply.Told {

	private final byte[] bytes;

	private final int pageAt;

	/**
	 * Creates an answer without entries.
	 * @param bytes not to be changed afterwards
	 */
	public Answered(byte[] bytes) {
		this(bytes, bytes.length);
	}

	private Answered(byte[] bytes, int pageAt) {
		this.bytes = bytes;
		this.pageAt = pageAt;
	}

	/**
	 * Creates an answer that ends with a {@link io.kvorum.storage.Page}.
	 * @param bytes not to be changed afterwards
	 * @param pageAt the index at which the page begins
	 */
	public static Answered withPage(byte[] bytes, int pageAt) {
		return new Answered(bytes, pageAt);
	}

	/** The answer; not to be changed. */
	public byte[] bytes() {
		return this.bytes;
	}

	/** The index at which its page begins; its length if it has no page. */
	public int pageAt() {
		return this.pageAt;
	}

}
