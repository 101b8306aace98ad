package io.kvorum.transport;

import java.util.Arrays;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.replication.Answered;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;

/**
 * The form of the entries on a stream, by its protocol version: format 1 up to version
 * {@value #LAST_OF_FORMAT_1}, without their lineage up to version
 * {@value #LAST_WITHOUT_LINEAGE}, as they are stored from then on.
 *
 * @param isFormat1 whether the peer reads only format 1
 * @param hasLineage whether the peer knows lineages, and so ballots
 * @param factor the default number of replicas of a key, the same on both nodes
 */
record EntryForm(boolean isFormat1, boolean hasLineage, int factor) {

	static final EntryForm STORED = new EntryForm(false, true, 0);

	private static final int LAST_OF_FORMAT_1 = 4;

	private static final int LAST_WITHOUT_LINEAGE = 5;

	static EntryForm of(int version, int factor) {
		return new EntryForm(version <= LAST_OF_FORMAT_1, version > LAST_WITHOUT_LINEAGE, factor);
	}

	/** The bytes to send for a stored entry. */
	byte[] written(Key key, byte[] entry) {
		if (this.hasLineage) {
			return entry;
		}
		byte[] known = EntryFormat.withoutLineage(key, entry);
		return this.isFormat1 ? EntryFormat.toFormat1(key, known, this.factor) : known;
	}

	byte[] written(Page page) {
		if (this.hasLineage) {
			return page.toBytes();
		}
		Page known = page.withoutLineage();
		return this.isFormat1 ? known.toFormat1(this.factor) : known.toBytes();
	}

	/** The bytes to send for an answer; its entries are those of its page. */
	byte[] written(Answered answered) {
		byte[] bytes = answered.bytes();
		int at = answered.pageAt();
		if (this.hasLineage || at == bytes.length) {
			return bytes;
		}
		byte[] converted = written(Page.of(Arrays.copyOfRange(bytes, at, bytes.length), true));
		byte[] written = Arrays.copyOf(bytes, at + converted.length);
		System.arraycopy(converted, 0, written, at, converted.length);
		return written;
	}

	/**
	 * The entry that was received.
	 * @throws io.kvorum.storage.DamagedEntryException if these bytes are no entry of this
	 * key
	 */
	Entry read(Key key, byte[] entry) {
		return EntryFormat.decode(key, this.isFormat1 ? EntryFormat.fromFormat1(key, entry, this.factor) : entry);
	}

	/** The page that was received; takes ownership of the bytes. */
	Page readPage(byte[] items, boolean last) {
		return this.isFormat1 ? Page.ofFormat1(items, last, this.factor) : Page.of(items, last);
	}

}
