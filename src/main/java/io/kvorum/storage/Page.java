package io.kvorum.storage;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;

/**
 * A part of a replica's entries in a range, in one array and in the order of their keys,
 * tombstones and expired ones included. It leaves the disk, crosses the network and is
 * merged with others as that array. Only what a client gets becomes an {@link Entry}.
 * Numbers are big-endian.
 *
 * <pre>
 *  0          2            6
 *  key bytes  entry bytes  key  entry, in {@link EntryFormat}
 * </pre>
 *
 * An entry that is longer than the limit is <b>large</b>. A page has only its first
 * {@value EntryFormat#EXPIRY_END} bytes, and its length as a negative number; it has to
 * be read by itself. So the size of a page is bounded, however large the values are.
 * <p>
 * A page of <b>heads</b> has each entry up to its value. The highest bit of the key's
 * length says so, and the length of the whole entry is a negative number, too.
 */
public final class Page {

	private static final int ITEM_HEAD = Short.BYTES + Integer.BYTES;

	private static final int KEY_LENGTH = 0x7fff;

	private static final int HEAD_FLAG = 0x8000;

	/** The largest part of an item before its entry. */
	private static final int MAX_HEAD_BYTES = ITEM_HEAD + Key.MAX_LENGTH_BYTES;

	/** The memory that a page of few items begins with, for each item. */
	private static final int USUAL_ITEM_BYTES = 256;

	/**
	 * The most by which the memory of a page exceeds its limit of bytes: a last item that
	 * begins within the limit. An entry that is longer than usual comes on top.
	 */
	public static final int SLACK_BYTES = MAX_HEAD_BYTES + Limit.USUAL_ENTRY_BYTES;

	private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

	private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);

	private final byte[] bytes;

	private final int length;

	private final boolean last;

	/** The offset of the key of its last item. */
	private final int lastKeyFrom;

	private final int lastKeyTo;

	private Page(byte[] bytes, int length, int lastKeyFrom, int lastKeyTo, boolean last) {
		if (length == 0 && !last) {
			throw new IllegalArgumentException("a page without items, and the range goes on");
		}
		this.bytes = bytes;
		this.length = length;
		this.lastKeyFrom = lastKeyFrom;
		this.lastKeyTo = lastKeyTo;
		this.last = last;
	}

	/**
	 * Takes a page of version 4 of the replica protocol, with entries in format 1.
	 * @param bytes must not be used afterwards
	 * @param factor as in {@link EntryFormat#fromFormat1}
	 * @throws IllegalArgumentException as {@link #of}
	 * @throws DamagedEntryException as {@link #of}
	 */
	public static Page ofFormat1(byte[] bytes, boolean last, int factor) {
		for (int at = 0; at < bytes.length;) {
			int keyFrom = at + ITEM_HEAD;
			require(keyFrom <= bytes.length, at);
			int keyTo = keyFrom + keyLength(bytes, at);
			int kept = kept(bytes, at, keyTo);
			require(keyTo <= bytes.length - kept, at);
			int entryTo = keyTo + kept;
			EntryFormat.convertFormat1(bytes, keyFrom, keyTo, bytes, keyTo, entryTo, entryLength(bytes, at) < 0,
					factor);
			at = entryTo;
		}
		return of(bytes, last);
	}

	/**
	 * Takes a page that another replica has sent.
	 * @throws IllegalArgumentException if the bytes are not a page, or its keys do not
	 * ascend
	 * @throws DamagedEntryException if an entry is not as it was written
	 */
	public static Page of(byte[] bytes, boolean last) {
		int keyFrom = 0;
		int keyTo = 0;
		for (int at = 0; at < bytes.length;) {
			int previousFrom = keyFrom;
			int previousTo = keyTo;
			keyFrom = at + ITEM_HEAD;
			require(keyFrom <= bytes.length, at);
			keyTo = keyFrom + keyLength(bytes, at);
			require(keyTo - keyFrom <= Key.MAX_LENGTH_BYTES, at);
			int kept = kept(bytes, at, keyTo);
			require(keyTo <= bytes.length - kept, at);
			if (isHead(bytes, at)) {
				EntryFormat.checkHead(bytes, keyTo, keyTo + kept);
			}
			else {
				EntryFormat.check(bytes, keyFrom, keyTo, bytes, keyTo, keyTo + kept, entryLength(bytes, at) < 0);
			}
			require(Arrays.compareUnsigned(bytes, previousFrom, previousTo, bytes, keyFrom, keyTo) < 0, at);
			at = keyTo + kept;
		}
		return new Page(bytes, bytes.length, keyFrom, keyTo, last);
	}

	private static void require(boolean isRight, int at) {
		if (!isRight) {
			throw new IllegalArgumentException("a page of a range is broken at byte " + at);
		}
	}

	private static int keyLength(byte[] bytes, int at) {
		return (short) SHORT.get(bytes, at) & KEY_LENGTH;
	}

	private static boolean isHead(byte[] bytes, int at) {
		return ((short) SHORT.get(bytes, at) & HEAD_FLAG) != 0;
	}

	private static int entryLength(byte[] bytes, int at) {
		return (int) INT.get(bytes, at + Short.BYTES);
	}

	/** The bytes that a page has of the entry of an item. */
	private static int kept(byte[] bytes, int at, int entryFrom) {
		int entryLength = entryLength(bytes, at);
		if (entryLength >= 0) {
			require(!isHead(bytes, at), at);
			return entryLength;
		}
		return isHead(bytes, at) ? EntryFormat.headLength(bytes, entryFrom, bytes.length) : EntryFormat.EXPIRY_END;
	}

	/** Whether the range has no entries after this page. */
	public boolean isLast() {
		return this.last;
	}

	/** The length of all items, in bytes. */
	public int length() {
		return this.length;
	}

	/** The items for sending; may be the array itself. */
	public byte[] toBytes() {
		return (this.length == this.bytes.length) ? this.bytes : Arrays.copyOf(this.bytes, this.length);
	}

	/**
	 * The items for version 4 of the replica protocol, with entries in format 1.
	 * @param factor the replicas of a key by default
	 * @return a copy
	 */
	public byte[] toFormat1(int factor) {
		byte[] items = Arrays.copyOf(this.bytes, this.length);
		Cursor cursor = cursor();
		while (cursor.advance()) {
			EntryFormat.convertToFormat1(items, cursor.keyFrom, cursor.keyTo, items, cursor.keyTo, cursor.entryTo,
					factor);
		}
		return items;
	}

	/**
	 * The page for a release that does not know lineages: see
	 * {@link EntryFormat#withoutLineage}.
	 * <p>
	 * The length of a large entry still counts its lineage, since its beginning need not
	 * tell how long that is. Readers only ask whether the entry is large.
	 * @return this page, unless an entry has a lineage
	 */
	public Page withoutLineage() {
		if (!hasLineage()) {
			return this;
		}
		ByteBuffer items = ByteBuffer.allocate(this.length);
		Cursor cursor = cursor();
		while (cursor.advance()) {
			byte[] key = cursor.keyBytes();
			byte[] entry = Arrays.copyOfRange(this.bytes, cursor.keyTo, cursor.entryTo);
			if (cursor.isLarge()) {
				EntryFormat.clearLineage(entry);
			}
			else {
				entry = EntryFormat.withoutLineage(Key.of(key), entry);
			}
			items.putShort((short) key.length)
				.putInt(cursor.isLarge() ? cursor.entryLength : entry.length)
				.put(key)
				.put(entry);
		}
		return of(Arrays.copyOf(items.array(), items.position()), this.last);
	}

	private boolean hasLineage() {
		Cursor cursor = cursor();
		while (cursor.advance()) {
			if (EntryFormat.hasLineageAt(this.bytes, cursor.keyTo)) {
				return true;
			}
		}
		return false;
	}

	/** Whether all keys are in a range. */
	public boolean isWithin(KeyRange range) {
		if (this.length == 0) {
			return true;
		}
		byte[] end = range.end();
		int firstTo = ITEM_HEAD + keyLength(this.bytes, 0);
		return Arrays.compareUnsigned(range
			.start(), 0, range.start().length, this.bytes, ITEM_HEAD, firstTo) <= 0 && (end == null
					|| Arrays.compareUnsigned(this.bytes, this.lastKeyFrom, this.lastKeyTo, end, 0, end.length) < 0);
	}

	/** The rest of a range after this page. The page must not be empty. */
	public KeyRange behind(KeyRange range) {
		return range.after(Arrays.copyOfRange(this.bytes, this.lastKeyFrom, this.lastKeyTo));
	}

	/** A cursor before the first item. */
	public Cursor cursor() {
		return new Cursor();
	}

	@Override
	public String toString() {
		return "Page[%d bytes%s]".formatted(this.length, this.last ? ", the last" : "");
	}

	/**
	 * The limits of a page: the bytes after which no further item begins, and the most
	 * items. Entries longer than {@code entryBytes} are large; with {@value #HEADS_ONLY}
	 * it is a page of heads. A page also ends when what was read of its entries that are
	 * not whole makes up {@value #PASSED_OVER} times its bytes.
	 */
	public record Limit(int bytes, int items, int entryBytes) {

		/** The largest limit of bytes; a page exceeds it by at most its last item. */
		public static final int MAX_BYTES = 1 << 20;

		/** The usual bound beyond which entries are large. */
		public static final int USUAL_ENTRY_BYTES = 16 << 10;

		private static final int PASSED_OVER = 16;

		private static final int HEADS_ONLY = 0;

		public Limit {
			if (bytes < 1 || bytes > MAX_BYTES || items < 1
					|| (entryBytes < EntryFormat.EXPIRY_END && entryBytes != HEADS_ONLY)) {
				throw new IllegalArgumentException(
						"a page of %d bytes and %d items with entries of %d".formatted(bytes, items, entryBytes));
			}
		}

		/** The limit of a page of a range. */
		public static Limit of(int bytes, int items) {
			return new Limit(bytes, items, USUAL_ENTRY_BYTES);
		}

		/** The limit of a page of a range without values. */
		public static Limit ofHeads(int bytes, int items) {
			return new Limit(bytes, items, HEADS_ONLY);
		}

		/** The limit for a page with one entry, of any length. */
		public static Limit ofWhole() {
			return new Limit(1, 1, Integer.MAX_VALUE);
		}

		boolean isHeadsOnly() {
			return this.entryBytes == HEADS_ONLY;
		}

		boolean isReached(int length, int count, long passed) {
			return length >= this.bytes || count >= this.items || passed >= (long) PASSED_OVER * this.bytes;
		}

	}

	/** A position in a page: at an item, or before the first one. */
	public final class Cursor {

		private int keyFrom;

		private int keyTo;

		private int entryTo;

		private int entryLength;

		private boolean isHead;

		private Cursor() {
		}

		/** Moves to the next item; false if there is none. */
		public boolean advance() {
			int at = this.entryTo;
			if (at == Page.this.length) {
				return false;
			}
			this.entryLength = Page.entryLength(Page.this.bytes, at);
			this.keyFrom = at + ITEM_HEAD;
			this.keyTo = this.keyFrom + keyLength(Page.this.bytes, at);
			this.entryTo = this.keyTo + kept(Page.this.bytes, at, this.keyTo);
			this.isHead = Page.isHead(Page.this.bytes, at);
			return true;
		}

		/** Compares keys, as {@link Key#compareTo} does. */
		public int compareKeys(Cursor other) {
			return Arrays.compareUnsigned(Page.this.bytes, this.keyFrom, this.keyTo, other.page().bytes, other.keyFrom,
					other.keyTo);
		}

		/** Compares versions, as {@link Version#compareTo} does. */
		public int compareVersions(Cursor other) {
			return EntryFormat.compareVersions(Page.this.bytes, this.keyTo, other.page().bytes, other.keyTo);
		}

		/** A copy of the key. */
		public byte[] keyBytes() {
			return Arrays.copyOfRange(Page.this.bytes, this.keyFrom, this.keyTo);
		}

		public Version version() {
			return EntryFormat.version(Page.this.bytes, this.keyTo);
		}

		/** The number of replicas of the entry. */
		public Copies copies() {
			return EntryFormat.copies(Page.this.bytes, this.keyTo);
		}

		public boolean isTombstone() {
			return EntryFormat.isTombstoneAt(Page.this.bytes, this.keyTo);
		}

		/** Whether the entry was stored under a ballot. */
		public boolean hasLineage() {
			return EntryFormat.hasLineageAt(Page.this.bytes, this.keyTo);
		}

		/** Whether a reader at this instant, in milliseconds since 1970, gets a value. */
		public boolean isVisibleAt(long millis) {
			return EntryFormat.isVisibleAt(Page.this.bytes, this.keyTo, millis);
		}

		/** Whether the entry has to be read by itself. */
		public boolean isLarge() {
			return this.entryLength < 0 && !this.isHead;
		}

		/** Whether the page has the entry up to its value only. */
		public boolean isHead() {
			return this.isHead;
		}

		/** The length of the value that is not in a page of heads. */
		public int lengthBehindHead() {
			return entryLength() - (this.entryTo - this.keyTo);
		}

		/** The length of the whole entry, even if it is large. */
		public int entryLength() {
			return Math.abs(this.entryLength);
		}

		/** The instant from which a reader gets no value, in milliseconds since 1970. */
		public long expiresAtMillis() {
			return EntryFormat.expiresAtMillis(Page.this.bytes, this.keyTo);
		}

		/**
		 * The entry, unless it is large. Its value is a slice of the page, and empty if
		 * the page has the head only.
		 */
		public Entry entry() {
			return EntryFormat.decodeChecked(Page.this.bytes, this.keyTo, this.entryTo);
		}

		private Page page() {
			return Page.this;
		}

	}

	/** Builds a page item by item. */
	public static final class Builder {

		private final Limit limit;

		private final int factor;

		private byte[] bytes;

		private int length;

		private int lastKeyFrom;

		private int lastKeyTo;

		private int items;

		private long passed;

		/** A builder without items, for entries in the current format. */
		public Builder(Limit limit) {
			this(limit, 0);
		}

		/**
		 * A builder without items, for stored entries.
		 * @param factor for entries in format 1, as in {@link EntryFormat#fromFormat1}
		 */
		public Builder(Limit limit, int factor) {
			this.limit = limit;
			this.factor = factor;
			int usual = (int) Math.min(limit.bytes(), (long) limit.items() * USUAL_ITEM_BYTES);
			this.bytes = new byte[usual + SLACK_BYTES];
		}

		/** Whether a limit is reached. */
		public boolean isFull() {
			return this.limit.isReached(this.length, this.items, this.passed);
		}

		public boolean isEmpty() {
			return this.items == 0;
		}

		/**
		 * The array for the next item. Write the key from {@link #offset()} on, and after
		 * it the entry or its beginning, before {@link #add(int, int)}.
		 * @param entryBytes the room that the entry needs
		 */
		public byte[] room(int entryBytes) {
			int needed = Math.addExact(this.length + MAX_HEAD_BYTES, entryBytes);
			if (this.bytes.length < needed) {
				int doubled = Math.min(2 * this.length, this.limit.bytes() + SLACK_BYTES);
				this.bytes = Arrays.copyOf(this.bytes, Math.max(needed, doubled));
			}
			return this.bytes;
		}

		/**
		 * The room for an entry that is not longer than usual, as far as it is needed, or
		 * for an {@link EntryFormat#beginning}.
		 */
		public int usualRoom() {
			return this.limit.isHeadsOnly() ? EntryFormat.MAX_BEGINNING_BYTES : Limit.USUAL_ENTRY_BYTES;
		}

		/** The offset of the next key in {@link #room(int)}. */
		public int offset() {
			return this.length + ITEM_HEAD;
		}

		/** Whether the page takes only the beginning of an entry of this length. */
		public boolean isLarge(int entryLength) {
			return entryLength > this.limit.entryBytes();
		}

		/**
		 * Adds the item that was written, and read in full for that.
		 * @param entryLength the length of the whole entry, even if it is large
		 * @throws DamagedEntryException if the bytes are no entry of the key, which is
		 * then left out
		 */
		public void add(int keyLength, int entryLength) {
			addBeginning(keyLength, entryLength);
			this.passed += isLarge(entryLength) ? entryLength : 0;
		}

		/**
		 * Adds an item as {@link #add(int, int)}, of which only the beginning was read.
		 */
		public void addBeginning(int keyLength, int entryLength) {
			boolean large = isLarge(entryLength);
			int keyFrom = offset();
			int keyTo = keyFrom + keyLength;
			int entryTo = keyTo + kept(keyTo, entryLength);
			EntryFormat.convertFormat1(this.bytes, keyFrom, keyTo, this.bytes, keyTo, entryTo, large, this.factor);
			if (this.limit.isHeadsOnly()) {
				EntryFormat.checkHead(this.bytes, keyTo, entryTo);
			}
			else {
				EntryFormat.check(this.bytes, keyFrom, keyTo, this.bytes, keyTo, entryTo, large);
			}
			SHORT.set(this.bytes, this.length, (short) (this.limit.isHeadsOnly() ? keyLength | HEAD_FLAG : keyLength));
			INT.set(this.bytes, this.length + Short.BYTES, large ? -entryLength : entryLength);
			this.length = entryTo;
			this.lastKeyFrom = keyFrom;
			this.lastKeyTo = keyTo;
			this.items++;
		}

		private int kept(int entryFrom, int entryLength) {
			if (this.limit.isHeadsOnly()) {
				int to = Math.min(entryFrom + entryLength, this.bytes.length);
				int headLength = EntryFormat.headLength(this.bytes, entryFrom, to);
				if (headLength > to - entryFrom) {
					throw new DamagedEntryException("it ends before its value");
				}
				return headLength;
			}
			return isLarge(entryLength) ? EntryFormat.EXPIRY_END : entryLength;
		}

		/** Adds an entry. */
		public void add(Key key, Entry entry) {
			byte[] encoded = EntryFormat.encode(key, entry);
			byte[] to = room(encoded.length);
			System.arraycopy(key.bytes(), 0, to, offset(), key.bytes().length);
			System.arraycopy(encoded, 0, to, offset() + key.bytes().length, encoded.length);
			add(key.bytes().length, encoded.length);
		}

		/**
		 * The page so far.
		 * @param last whether the range has no entries after it
		 */
		public Page build(boolean last) {
			return new Page(this.bytes, this.length, this.lastKeyFrom, this.lastKeyTo, last);
		}

	}

}
