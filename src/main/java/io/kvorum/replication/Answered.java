package io.kvorum.replication;

import io.kvorum.quorum.Reply;

/** What a replica answers to a question. */
public final class Answered implements Reply.Told {

	private final byte[] bytes;

	private final int pageAt;

	/**
	 * An answer without entries.
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
	 * An answer that ends with a {@link io.kvorum.storage.Page}.
	 * @param bytes not to be changed afterwards
	 * @param pageAt where the page begins
	 */
	public static Answered withPage(byte[] bytes, int pageAt) {
		return new Answered(bytes, pageAt);
	}

	/** Not to be changed. */
	public byte[] bytes() {
		return this.bytes;
	}

	/** Where its page begins; at its end where it has none. */
	public int pageAt() {
		return this.pageAt;
	}

}
