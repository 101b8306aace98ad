package io.kvorum.transport;

import java.util.Arrays;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.replication.Answered;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;

/**
 * The form of the entries on a stream, by its protocol version: format 1 up to version
 * {@value #LAST_OF_FORMAT_1}, as they are stored from then on.
 *
 * @param isFormat1 whether the peer reads only format 1
 * @param factor the default number of replicas of a key, the same on both nodes
 */
record EntryForm(boolean isFormat1, int factor) {

	static final EntryForm STORED = new EntryForm(false, 0);

	private static final int LAST_OF_FORMAT_1 = 4;

	static EntryForm of(int version, int factor) {
		return new EntryForm(version <= LAST_OF_FORMAT_1, factor);
	}

	/** The bytes to send for a stored entry. */
	byte[] written(Key key, byte[] entry) {
		return this.isFormat1 ? EntryFormat.toFormat1(key, entry, this.factor) : entry;
	}

	byte[] written(Page page) {
		return this.isFormat1 ? page.toFormat1(this.factor) : page.toBytes();
	}

	/** The bytes to send for an answer; its entries are those of its page. */
	byte[] written(Answered answered) {
		byte[] bytes = answered.bytes();
		int at = answered.pageAt();
		if (!this.isFormat1 || at == bytes.length) {
			return bytes;
		}
		byte[] items = Arrays.copyOfRange(bytes, at, bytes.length);
		byte[] converted = Page.of(items, true).toFormat1(this.factor);
		byte[] written = bytes.clone();
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
