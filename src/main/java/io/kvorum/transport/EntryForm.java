package io.kvorum.transport;

import java.util.Arrays;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.replication.Answered;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;

/**
 * The form of the entries on a stream, by its protocol version. Up to version
 * {@value #LAST_OF_FORMAT_1} they have format 1. From version {@value #FIRST_OF_BALLOTS}
 * on they are sent as they are stored, and between the two without lineage.
 *
 * @param version the protocol version of the stream
 * @param factor the default number of replicas of a key, the same on both nodes
 */
record EntryForm(int version, int factor) {

	static final EntryForm STORED = new EntryForm(ReplicaProtocol.VERSIONS.newest(), 0);

	private static final int LAST_OF_FORMAT_1 = 4;

	private static final int FIRST_OF_BALLOTS = 6;

	private static final int FIRST_OF_LAYOUTS = 7;

	/** Whether the peer knows ballots: their operations, replies and lineages. */
	boolean knowsBallots() {
		return this.version >= FIRST_OF_BALLOTS;
	}

	/** Whether the peer knows that topologies change while a stream is open. */
	boolean knowsLayouts() {
		return this.version >= FIRST_OF_LAYOUTS;
	}

	private boolean isFormat1() {
		return this.version <= LAST_OF_FORMAT_1;
	}

	/** The bytes to send for a stored entry. */
	byte[] written(Key key, byte[] entry) {
		if (knowsBallots()) {
			return entry;
		}
		byte[] known = EntryFormat.withoutLineage(key, entry);
		return isFormat1() ? EntryFormat.toFormat1(key, known, this.factor) : known;
	}

	byte[] written(Page page) {
		if (knowsBallots()) {
			return page.toBytes();
		}
		Page known = page.withoutLineage();
		return isFormat1() ? known.toFormat1(this.factor) : known.toBytes();
	}

	/** The bytes to send for an answer; its entries are those of its page. */
	byte[] written(Answered answered) {
		byte[] bytes = answered.bytes();
		int at = answered.pageAt();
		if (knowsBallots() || at == bytes.length) {
			return bytes;
		}
		byte[] items = Arrays.copyOfRange(bytes, at, bytes.length);
		byte[] converted = written(Page.of(items, true));
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
		return EntryFormat.decode(key, isFormat1() ? EntryFormat.fromFormat1(key, entry, this.factor) : entry);
	}

	/** The page that was received; takes ownership of the bytes. */
	Page readPage(byte[] items, boolean last) {
		return isFormat1() ? Page.ofFormat1(items, last, this.factor) : Page.of(items, last);
	}

}
