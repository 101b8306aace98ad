package io.kvorum.storage.rocksdb;

import io.kvorum.storage.Digests;

/**
 * State in memory that is derived from what is stored. The committer's thread changes it
 * after a batch is written and before its callers get their results. Between batches it
 * also adds rows that reads have found. Only the {@link DigestBuild} changes the digests
 * besides.
 *
 * @param rows the newest rows of entries
 * @param heads the first bytes of the newest rows of larger entries, as the database has
 * them: a write needs no more of the entry that it replaces. So they outlive the rows
 */
record Derived(Digests digests, HintCounts hints, RowCache rows, RowCache heads) {

	/** The part of the memory for rows that heads get. */
	private static final int HEADS_PART = 8;

	/** The sizes of a small row and of a small head with their keys, in bytes. */
	private static final int LEAST_ROW_BYTES = 64;

	private static final int LEAST_HEAD_BYTES = 32;

	/**
	 * State without any entry.
	 * @param rowBytes the memory for rows and heads, with their indexes; 0 keeps none
	 */
	static Derived of(Digests digests, HintCounts hints, int rowBytes) {
		int headBytes = rowBytes / HEADS_PART;
		return new Derived(digests, hints, RowCache.of(rowBytes - headBytes, LEAST_ROW_BYTES),
				RowCache.of(headBytes, LEAST_HEAD_BYTES));
	}

}
