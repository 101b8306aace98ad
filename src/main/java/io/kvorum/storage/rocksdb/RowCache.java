package io.kvorum.storage.rocksdb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

import io.kvorum.kv.Key;
import org.jspecify.annotations.Nullable;

/**
 * A cache of rows that were written or read lately, which saves reads a call into
 * RocksDB. RocksDB's memtable holds each row as often as it was written; a row in this
 * cache is the newest.
 * <p>
 * The cache is a lossy index over a circular log, as in MICA (Lim and others, "MICA: A
 * Holistic Approach to Fast In-Memory Key-Value Storage", NSDI 2014). Rows are appended
 * to one array, and at its end again from its beginning, over the oldest. The index has
 * two places for each key; a new key takes that of the older row. So the cache takes
 * constant memory and makes no work for the garbage collector.
 * <p>
 * One thread writes, any thread reads. A reader copies a row, and then checks whether the
 * writer has overwritten it meanwhile.
 */
final class RowCache {

	/**
	 * The longest row that is kept, in bytes; a longer one would evict too many others.
	 */
	private static final int MAX_ROW_BYTES = 16 << 10;

	/** The part of the memory that one row may take. */
	private static final int MAX_ROW_PART = 64;

	/** The places of the index for each key, next to each other. */
	private static final int WAYS = 2;

	/** The position of a row that is not there. */
	private static final long NOWHERE = Long.MIN_VALUE / 2;

	private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());

	/** The head of each row: the lengths of its key and of the row. */
	private static final int HEAD_BYTES = 2 * Integer.BYTES;

	/** Spreads the hashes of keys that differ in little (Fibonacci hashing). */
	private static final int SPREAD = 0x9e3779b9;

	private final byte[] log;

	private final int maxRowBytes;

	/**
	 * The positions of rows, which grow for ever; modulo the length of the log they are
	 * offsets in it.
	 */
	private final AtomicLongArray index;

	private final int shift;

	/**
	 * For the places of each key, the end after the last put or removal. A row that was
	 * read before that may be outdated, so {@link #fill} drops it. Nor is a row that
	 * several reads found at once filled in twice. Used by the writer.
	 */
	private final long[] changed;

	/**
	 * The end of what is written, the row being written included. Whatever is further
	 * back than the length of the log is overwritten, or about to be. It is also a clock:
	 * each put or removal moves it, after the database has the change.
	 */
	private volatile long end;

	/**
	 * An empty cache.
	 * @param bytes the memory for rows; 0 keeps none
	 * @param pairs how many pairs of places the index has, a power of two from 2 on
	 */
	RowCache(int bytes, int pairs) {
		this.log = new byte[bytes];
		this.maxRowBytes = Math.min(MAX_ROW_BYTES, bytes / MAX_ROW_PART);
		this.shift = Integer.SIZE - Integer.numberOfTrailingZeros(pairs);
		long[] nowhere = new long[WAYS * pairs];
		Arrays.fill(nowhere, NOWHERE);
		this.changed = new long[pairs];
		this.index = new AtomicLongArray(nowhere);
	}

	/**
	 * An empty cache with an index for as many rows as it can hold.
	 * @param bytes the memory for rows and index
	 * @param leastRowBytes the size of a small row with its key
	 */
	static RowCache of(int bytes, int leastRowBytes) {
		int pairs = Integer.highestOneBit(Math.max(2, bytes / leastRowBytes / WAYS));
		return new RowCache(Math.max(0, bytes - (WAYS + 1) * Long.BYTES * pairs), pairs);
	}

	/** The newest row of the key; null if it is not cached. By any thread. */
	byte @Nullable [] get(Key key) {
		int place = placeOf(key);
		byte[] row = copy(this.index.getAcquire(place), key);
		return (row != null) ? row : copy(this.index.getAcquire(place + 1), key);
	}

	private int placeOf(Key key) {
		return ((key.hashCode() * SPREAD) >>> this.shift) * WAYS;
	}

	private byte @Nullable [] copy(long position, Key key) {
		if (!isThere(position)) {
			return null;
		}
		int at = at(position);
		int keyLength = (int) INT.get(this.log, at);
		int rowLength = (int) INT.get(this.log, at + Integer.BYTES);
		// Otherwise these may be bytes of another row, and not lengths.
		if (!isThere(position) || !isKey(key, at + HEAD_BYTES, keyLength)) {
			return null;
		}
		int from = at + HEAD_BYTES + keyLength;
		byte[] row = Arrays.copyOfRange(this.log, from, from + rowLength);
		return isThere(position) ? row : null;
	}

	/** Whether all that was read at this position until now belongs to its row. */
	private boolean isThere(long position) {
		VarHandle.loadLoadFence();
		return this.end - position <= this.log.length;
	}

	private int at(long position) {
		return (int) (position % this.log.length);
	}

	private boolean isKey(Key key, int from, int length) {
		byte[] bytes = key.bytes();
		return length == bytes.length && Arrays.equals(bytes, 0, length, this.log, from, from + length);
	}

	/** Whether a row is short enough to be kept. By any thread. */
	boolean hasRoomFor(Key key, byte[] row) {
		return length(key, row) <= this.maxRowBytes;
	}

	private static int length(Key key, byte[] row) {
		return HEAD_BYTES + key.bytes().length + row.length;
	}

	/**
	 * The instant to pass to {@link #fill} with a row read from the database after this
	 * call. By any thread.
	 */
	long now() {
		return this.end;
	}

	/**
	 * Caches a row that a read has found in the database, unless its key may have been
	 * written since. A reader that sees the end after a write reads that write.
	 * @param asOf the value of {@link #now()} before the read
	 */
	void fill(Key key, byte[] row, long asOf) {
		if (this.changed[placeOf(key) / WAYS] <= asOf) {
			put(key, row);
		}
	}

	/**
	 * Caches a row, which replaces any other of the key; one that is too long is not
	 * cached.
	 */
	void put(Key key, byte[] row) {
		if (!hasRoomFor(key, row)) {
			remove(key);
			return;
		}
		int keyLength = key.bytes().length;
		int place = placeFor(key);
		long position = reserve(length(key, row));
		this.changed[place / WAYS] = this.end;
		int at = at(position);
		INT.set(this.log, at, keyLength);
		INT.set(this.log, at + Integer.BYTES, row.length);
		System.arraycopy(key.bytes(), 0, this.log, at + HEAD_BYTES, keyLength);
		System.arraycopy(row, 0, this.log, at + HEAD_BYTES + keyLength, row.length);
		this.index.setRelease(place, position);
	}

	/** The place that holds the key, else that of the older of the two rows. */
	private int placeFor(Key key) {
		int place = placeOf(key);
		if (isAt(place, key)) {
			return place;
		}
		if (isAt(place + 1, key)) {
			return place + 1;
		}
		return (this.index.getPlain(place) <= this.index.getPlain(place + 1)) ? place : place + 1;
	}

	/** Whether a place holds the key. Only for the writer, which nothing overtakes. */
	private boolean isAt(int place, Key key) {
		long position = this.index.getPlain(place);
		if (!isThere(position)) {
			return false;
		}
		int at = at(position);
		return isKey(key, at + HEAD_BYTES, (int) INT.get(this.log, at));
	}

	/**
	 * Moves the end, so that readers see what is about to be overwritten; returns the
	 * position for a row of this length.
	 */
	private long reserve(int length) {
		long position = this.end;
		int left = this.log.length - at(position);
		if (left < length) {
			// A row does not wrap around the end of the log.
			position += left;
		}
		this.end = position + length;
		VarHandle.storeStoreFence();
		return position;
	}

	/** Removes the row of a key. */
	void remove(Key key) {
		int place = placeOf(key);
		for (int way = 0; way < WAYS; way++) {
			if (isAt(place + way, key)) {
				this.index.setRelease(place + way, NOWHERE);
			}
		}
		// Later than the instant of every read until now, so their rows are not filled
		// in.
		long next = this.end + 1;
		this.end = next;
		this.changed[place / WAYS] = next;
	}

}
