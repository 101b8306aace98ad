package io.kvorum.storage.rocksdb;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import org.jspecify.annotations.Nullable;

/**
 * An entry encoded for the disk, by the caller of a write, to spare the committer's
 * thread.
 */
final class EncodedEntry {

	private final Entry entry;

	private final byte[] bytes;

	private final byte @Nullable [] beginning;

	private EncodedEntry(Key key, Entry entry) {
		this.entry = entry;
		this.bytes = EntryFormat.encode(key, entry);
		this.beginning = (this.bytes.length >= LargeRow.MIN_BYTES) ? EntryFormat.beginning(this.bytes) : null;
	}

	static EncodedEntry of(Key key, Entry entry) {
		return new EncodedEntry(key, entry);
	}

	/** The entry in {@link EntryFormat}. */
	byte[] bytes() {
		return this.bytes;
	}

	/** What the entries have of it if it is large; null if it is not. */
	byte @Nullable [] beginning() {
		return this.beginning;
	}

	Version version() {
		return this.entry.version();
	}

	Copies copies() {
		return this.entry.copies();
	}

	/** Whether it was stored under a ballot. */
	boolean hasLineage() {
		return this.entry.lineage() != null;
	}

	boolean isTombstone() {
		return this.entry instanceof Tombstone;
	}

	/** The instant of {@link Live#expiresAtMillis()}; a tombstone never expires. */
	long expiresAtMillis() {
		return (this.entry instanceof Live live) ? live.expiresAtMillis() : Live.NEVER;
	}

}
