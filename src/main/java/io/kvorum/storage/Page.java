package io.kvorum.storage;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;

/**
 * A piece of what a replica holds in a range: entries one after the other in the order of
 * their keys, tombstones and expired ones too, in one array. It leaves the disk, crosses
 * the network and is merged with others as that array; only what is told to somebody is
 * made an {@link Entry}. Numbers are big-endian.
 *
 * <pre>
 *  0          2            6
 *  key bytes  entry bytes  key  entry, as {@link EntryFormat} has it
 * </pre>
 *
 * Of an entry of more than {@value #MAX_ENTRY_BYTES} bytes there are only the first
 * {@value EntryFormat#EXPIRY_END}: it is <b>large</b> and has to be read by itself. So a
 * page has a size, however large the values are.
 */
public final class Page {

	/** An entry with more bytes than this is large. */
	public static final int MAX_ENTRY_BYTES = 16 << 10;

	private static final int ITEM_HEAD = Short.BYTES + Integer.BYTES;

	/** The most that an item takes. */
	private static final int MAX_ITEM_BYTES = ITEM_HEAD + Key.MAX_LENGTH_BYTES + MAX_ENTRY_BYTES;

	/** What the memory of a page begins with, where it gets few items. */
	private static final int USUAL_ITEM_BYTES = 256;

	private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

	private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);

	private final byte[] bytes;

	private final int length;

	private final boolean last;

	/** Where the key of its last item is. */
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
	 * The page that another replica has sent.
	 * @throws IllegalArgumentException if these bytes are none, or its keys do not ascend
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
			int entryLength = entryLength(bytes, at);
			require(entryLength >= EntryFormat.COPIES_END && keyTo <= bytes.length - kept(entryLength), at);
			require(Arrays.compareUnsigned(bytes, previousFrom, previousTo, bytes, keyFrom, keyTo) < 0, at);
			at = keyTo + kept(entryLength);
		}
		return new Page(bytes, bytes.length, keyFrom, keyTo, last);
	}

	private static void require(boolean isRight, int at) {
		if (!isRight) {
			throw new IllegalArgumentException("a page of a range is broken at byte " + at);
		}
	}

	private static int keyLength(byte[] bytes, int at) {
		return (short) SHORT.get(bytes, at) & 0xffff;
	}

	private static int entryLength(byte[] bytes, int at) {
		return (int) INT.get(bytes, at + Short.BYTES);
	}

	/** How much of an entry is in a page. */
	private static int kept(int entryLength) {
		return (entryLength > MAX_ENTRY_BYTES) ? EntryFormat.EXPIRY_END : entryLength;
	}

	/** Whether the range has nothing behind it. */
	public boolean isLast() {
		return this.last;
	}

	/** Of all its items. */
	public int length() {
		return this.length;
	}

	/** Its items, to be sent; perhaps the array itself. */
	public byte[] toBytes() {
		return (this.length == this.bytes.length) ? this.bytes : Arrays.copyOf(this.bytes, this.length);
	}

	/** What a range has behind this page, which is not empty. */
	public KeyRange behind(KeyRange range) {
		return range.after(Arrays.copyOfRange(this.bytes, this.lastKeyFrom, this.lastKeyTo));
	}

	/** Before its first item. */
	public Cursor cursor() {
		return new Cursor();
	}

	@Override
	public String toString() {
		return "Page[%d bytes%s]".formatted(this.length, this.last ? ", the last" : "");
	}

	/**
	 * How long a page gets: no item begins behind so many bytes, there are at most so
	 * many items, and large entries are passed over up to {@value #PASSED_OVER} times
	 * these bytes.
	 */
	public record Limit(int bytes, int items) {

		/** The longest page, but for its last item. */
		public static final int MAX_BYTES = 1 << 20;

		private static final int PASSED_OVER = 16;

		public Limit {
			if (bytes < 1 || bytes > MAX_BYTES || items < 1) {
				throw new IllegalArgumentException("a page of %d bytes and %d items".formatted(bytes, items));
			}
		}

		boolean isReached(int length, int count, long passed) {
			return length >= this.bytes || count >= this.items || passed >= (long) PASSED_OVER * this.bytes;
		}

	}

	/** A place in a page: an item, or before the first one. */
	public final class Cursor {

		private int keyFrom;

		private int keyTo;

		private int entryTo;

		private int entryLength;

		private Cursor() {
		}

		/** Goes to the next item; false if there is none. */
		public boolean advance() {
			int at = this.entryTo;
			if (at == Page.this.length) {
				return false;
			}
			this.entryLength = Page.entryLength(Page.this.bytes, at);
			this.keyFrom = at + ITEM_HEAD;
			this.keyTo = this.keyFrom + keyLength(Page.this.bytes, at);
			this.entryTo = this.keyTo + kept(this.entryLength);
			return true;
		}

		/** Which key comes first, as {@link Key#compareTo} has it. */
		public int compareKeys(Cursor other) {
			return Arrays.compareUnsigned(Page.this.bytes, this.keyFrom, this.keyTo, other.page().bytes, other.keyFrom,
					other.keyTo);
		}

		/** As {@link #compareKeys(Cursor)}. */
		public int compareKeyTo(byte[] key) {
			return Arrays.compareUnsigned(Page.this.bytes, this.keyFrom, this.keyTo, key, 0, key.length);
		}

		/** Which entry is newer, as {@link Version#compareTo} has it. */
		public int compareVersions(Cursor other) {
			return EntryFormat.compareVersions(Page.this.bytes, this.keyTo, other.page().bytes, other.keyTo);
		}

		/** A copy. */
		public byte[] keyBytes() {
			return Arrays.copyOfRange(Page.this.bytes, this.keyFrom, this.keyTo);
		}

		public Version version() {
			return EntryFormat.version(Page.this.bytes, this.keyTo);
		}

		/** Whether a reader at this instant, in milliseconds since 1970, gets a value. */
		public boolean isVisibleAt(long millis) {
			return EntryFormat.isVisibleAt(Page.this.bytes, this.keyTo, millis);
		}

		/** Whether the entry has to be read by itself. */
		public boolean isLarge() {
			return this.entryLength > MAX_ENTRY_BYTES;
		}

		/** Of the whole entry, also where it is large. */
		public int entryLength() {
			return this.entryLength;
		}

		/**
		 * The entry, unless it is large. Its value is a slice of the page.
		 * @throws DamagedEntryException if it is not as it was written
		 */
		public Entry entry(Key key) {
			return EntryFormat.decode(key, Page.this.bytes, this.keyTo, this.entryTo);
		}

		private Page page() {
			return Page.this;
		}

	}

	/** Makes a page, item by item. */
	public static final class Builder {

		private final Limit limit;

		private byte[] bytes;

		private int length;

		private int lastKeyFrom;

		private int lastKeyTo;

		private int items;

		private long passed;

		public Builder(Limit limit) {
			this.limit = limit;
			this.bytes = new byte[Math.addExact((int) Math.min(limit.bytes(), (long) limit.items() * USUAL_ITEM_BYTES),
					MAX_ITEM_BYTES)];
		}

		/** Whether there is to be no more. */
		public boolean isFull() {
			return this.limit.isReached(this.length, this.items, this.passed);
		}

		public boolean isEmpty() {
			return this.items == 0;
		}

		/**
		 * Where to write a key, and right behind it the first bytes of its entry, up to
		 * {@value #MAX_ENTRY_BYTES}; before {@link #add(int, int)}.
		 */
		public byte[] room() {
			if (this.bytes.length - this.length < MAX_ITEM_BYTES) {
				this.bytes = Arrays.copyOf(this.bytes, 2 * this.length + MAX_ITEM_BYTES);
			}
			return this.bytes;
		}

		/** From where on in {@link #room()}. */
		public int offset() {
			return this.length + ITEM_HEAD;
		}

		/**
		 * Takes in what was written.
		 * @param entryLength of the whole entry, more than was written if it is large
		 * @throws DamagedEntryException if that is no entry of the key; it is left out
		 */
		public void add(int keyLength, int entryLength) {
			int keyFrom = offset();
			int keyTo = keyFrom + keyLength;
			boolean large = entryLength > MAX_ENTRY_BYTES;
			if (!large) {
				EntryFormat.check(this.bytes, keyFrom, keyTo, this.bytes, keyTo, keyTo + entryLength);
			}
			SHORT.set(this.bytes, this.length, (short) keyLength);
			INT.set(this.bytes, this.length + Short.BYTES, entryLength);
			this.length = keyTo + kept(entryLength);
			this.lastKeyFrom = keyFrom;
			this.lastKeyTo = keyTo;
			this.passed += large ? entryLength : 0;
			this.items++;
		}

		/** Takes in an entry. */
		public void add(Key key, Entry entry) {
			byte[] encoded = EntryFormat.encode(key, entry);
			byte[] to = room();
			System.arraycopy(key.bytes(), 0, to, offset(), key.bytes().length);
			System.arraycopy(encoded, 0, to, offset() + key.bytes().length, Math.min(encoded.length, MAX_ENTRY_BYTES));
			add(key.bytes().length, encoded.length);
		}

		/**
		 * The page so far.
		 * @param last whether the range has nothing behind it
		 */
		public Page build(boolean last) {
			return new Page(this.bytes, this.length, this.lastKeyFrom, this.lastKeyTo, last);
		}

	}

}
