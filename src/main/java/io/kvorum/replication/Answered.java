package io.kvorum.replication;

import io.kvorum.quorum.Reply;

/** What a replica answers to a question. */
public final class Answered implements Reply.Told {

	private final byte[] bytes;

	/**
	 * An answer.
	 * @param bytes not to be changed afterwards
	 */
	public Answered(byte[] bytes) {
		this.bytes = bytes;
	}

	/** Not to be changed. */
	public byte[] bytes() {
		return this.bytes;
	}

}
