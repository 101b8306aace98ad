package io.kvorum.storage;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;

/**
 * The layout of an entry in bytes, format {@value #FORMAT}; numbers are big-endian.
 *
 * <pre>
 *  0      1         9      17      21      22       23 ...
 *  format timestamp node   crc32c  flags   copies   [expiry 8]  [lineage]  [length 1, content type]  value
 * </pre>
 *
 * A tombstone ends before the content type. Its copies are a byte of {@link Copies}, its
 * lineage is in {@link LineageFormat}, if the flags say that there is one. The version
 * comes first, so the first {@value #VERSION_END} bytes tell which of two entries is
 * newer. The checksum (CRC-32C) is over the key and everything but itself. So a damaged
 * entry, or the entry of another key, is an error and never a wrong value, wherever it
 * was damaged on the way between two nodes.
 * <p>
 * <b>Format 1</b> differs only in its copies, which are always a number, since there was
 * no default. Stores keep such entries until they are written again. Nodes that speak
 * version 4 of the replica protocol send and take only format 1.
 * <p>
 * <b>Format 3</b> is the beginning of an entry that a store keeps whole elsewhere, see
 * {@link #beginning}. It never leaves a store.
 */
public final class EntryFormat {

	/** The length of the part of an entry that {@link #versionOf} needs, in bytes. */
	public static final int VERSION_END = 17;

	/** The length of the part of an entry that {@link #copiesOf} needs, in bytes. */
	public static final int COPIES_END = 23;

	/** The length of the part of an entry that {@link #isVisibleAt} needs, in bytes. */
	public static final int EXPIRY_END = COPIES_END + Long.BYTES;

	/** The most bytes of an entry before its value. */
	static final int MAX_HEAD_BYTES = EXPIRY_END + LineageFormat.MAX_BYTES + 1 + Entry.MAX_CONTENT_TYPE_BYTES;

	/** The most bytes of a {@link #beginning}. */
	static final int MAX_BEGINNING_BYTES = MAX_HEAD_BYTES + Integer.BYTES;

	/** The first byte of an entry in this format. */
	static final byte FORMAT = 2;

	private static final byte FORMAT_1 = 1;

	private static final byte BEGINNING = 3;

	private static final int TIMESTAMP = 1;

	private static final int NODE = 9;

	private static final int CHECKSUM = 17;

	private static final int FLAGS = 21;

	private static final int COPIES = 22;

	private static final int FIXED = COPIES_END;

	private static final int TOMBSTONE = 1;

	private static final int EXPIRES = 2;

	/** It was stored under a ballot. Entries of format 1 never have this flag. */
	private static final int LINEAGE = 4;

	private static final int KNOWN_FLAGS = TOMBSTONE | EXPIRES | LINEAGE;

	/** The content type of most values, which is encoded as the empty string. */
	private static final String DEFAULT_TYPE = "application/octet-stream";

	private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

	private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

	private EntryFormat() {
	}

	/** Encodes an entry of this key. */
	public static byte[] encode(Key key, Entry entry) {
		Lineage lineage = entry.lineage();
		int lineageBytes = (lineage != null) ? LineageFormat.bytes(lineage) : 0;
		int lineageFlag = (lineage != null) ? LINEAGE : 0;
		byte[] bytes = switch (entry) {
			case Live live -> encode(live, lineageFlag, lineageBytes);
			case Tombstone _ -> flagged(FIXED + lineageBytes, TOMBSTONE | lineageFlag);
		};
		if (lineage != null) {
			LineageFormat.write(lineage, bytes, lineageAt(bytes, 0));
		}
		bytes[0] = FORMAT;
		LONG.set(bytes, TIMESTAMP, entry.version().timestamp());
		LONG.set(bytes, NODE, entry.version().node());
		bytes[COPIES] = entry.copies().toByte();
		seal(key, bytes);
		return bytes;
	}

	/**
	 * The length of an encoded entry, as far as it has no content type, expiry and
	 * lineage.
	 */
	public static int usualLength(Entry entry) {
		return FIXED + ((entry instanceof Live live) ? 1 + live.value().length() : 0);
	}

	/** Writes the checksum into the bytes. */
	static void seal(Key key, byte[] bytes) {
		byte[] keyBytes = key.bytes();
		seal(keyBytes, 0, keyBytes.length, bytes, 0, bytes.length);
	}

	private static void seal(byte[] key, int keyFrom, int keyTo, byte[] bytes, int from, int to) {
		INT.set(bytes, from + CHECKSUM, checksum(key, keyFrom, keyTo, bytes, from, to));
	}

	private static byte[] encode(Live live, int lineageFlag, int lineageBytes) {
		boolean spelt = !live.contentType().equals(DEFAULT_TYPE);
		byte[] type = spelt ? live.contentType().getBytes(StandardCharsets.ISO_8859_1) : new byte[0];
		int typeAt = FIXED + (live.expires() ? Long.BYTES : 0) + lineageBytes;
		int valueAt = typeAt + 1 + type.length;
		Value value = live.value();
		byte[] bytes = flagged(valueAt + value.length(), (live.expires() ? EXPIRES : 0) | lineageFlag);
		if (live.expires()) {
			LONG.set(bytes, FIXED, live.expiresAtMillis());
		}
		bytes[typeAt] = (byte) type.length;
		System.arraycopy(type, 0, bytes, typeAt + 1, type.length);
		System.arraycopy(value.array(), value.offset(), bytes, valueAt, value.length());
		return bytes;
	}

	private static byte[] flagged(int length, int flags) {
		byte[] bytes = new byte[length];
		bytes[FLAGS] = (byte) flags;
		return bytes;
	}

	/**
	 * Decodes the entry of this key. Its value is a slice of the bytes.
	 * @throws DamagedEntryException if the bytes are not a whole, undamaged entry of this
	 * key
	 */
	public static Entry decode(Key key, byte[] bytes) {
		return decode(key, bytes, 0, bytes.length);
	}

	/** Decodes the bytes from {@code from} up to {@code to}. */
	static Entry decode(Key key, byte[] bytes, int from, int to) {
		check(key.bytes(), 0, key.bytes().length, bytes, from, to, false);
		return decodeChecked(bytes, from, to);
	}

	/**
	 * Checks that bytes are a whole, undamaged entry of a key.
	 * @param large whether they are only the beginning of an entry; its checksum is then
	 * not checked
	 * @throws DamagedEntryException if they are not
	 */
	static void check(byte[] key, int keyFrom, int keyTo, byte[] bytes, int from, int to, boolean large) {
		requireFormat(bytes, from, to);
		requireChecksum(key, keyFrom, keyTo, bytes, from, to, large);
	}

	/**
	 * Checks that bytes are the beginning of an entry, up to its value. That has no
	 * checksum.
	 * @throws DamagedEntryException if they are not
	 */
	static void checkHead(byte[] bytes, int from, int to) {
		requireFormat(bytes, from, to);
		var _ = decodeChecked(bytes, from, to);
	}

	private static void requireChecksum(byte[] key, int keyFrom, int keyTo, byte[] bytes, int from, int to,
			boolean large) {
		if (!large && (int) INT.get(bytes, from + CHECKSUM) != checksum(key, keyFrom, keyTo, bytes, from, to)) {
			throw new DamagedEntryException("its checksum does not match");
		}
	}

	/**
	 * Converts an entry that may be in format 1 to this format.
	 * @param bytes not changed
	 * @param factor the replicas of a key by default on the node that wrote it, see
	 * {@link Copies#ofNumberOrDefault}
	 * @return the same bytes, unless they are in format 1
	 * @throws DamagedEntryException if they are in format 1, but not an undamaged entry
	 * of this key
	 */
	public static byte[] fromFormat1(Key key, byte[] bytes, int factor) {
		if (!isFormat1(bytes, 0, bytes.length)) {
			return bytes;
		}
		byte[] converted = bytes.clone();
		convertFormat1(key.bytes(), 0, key.bytes().length, converted, 0, converted.length, false, factor);
		return converted;
	}

	/**
	 * Converts an entry in this format to format 1, with the number of its copies.
	 * @param bytes not changed
	 * @param factor the replicas of a key by default
	 * @throws DamagedEntryException if they are not an undamaged entry of this key
	 */
	public static byte[] toFormat1(Key key, byte[] bytes, int factor) {
		byte[] keyBytes = key.bytes();
		check(keyBytes, 0, keyBytes.length, bytes, 0, bytes.length, false);
		byte[] converted = bytes.clone();
		convertToFormat1(keyBytes, 0, keyBytes.length, converted, 0, converted.length, factor);
		return converted;
	}

	/**
	 * Converts in place as {@link #fromFormat1} does. Leaves an entry that is not in
	 * format 1 as it is.
	 */
	static void convertFormat1(byte[] key, int keyFrom, int keyTo, byte[] bytes, int from, int to, boolean large,
			int factor) {
		if (isFormat1(bytes, from, to)) {
			requireChecksum(key, keyFrom, keyTo, bytes, from, to, large);
			bytes[from + COPIES] = copies(bytes, from, factor).toByte();
			bytes[from] = FORMAT;
			seal(key, keyFrom, keyTo, bytes, from, to);
		}
	}

	/** Converts a checked entry in place as {@link #toFormat1} does. */
	static void convertToFormat1(byte[] key, int keyFrom, int keyTo, byte[] bytes, int from, int to, int factor) {
		bytes[from + COPIES] = (byte) copies(bytes, from).orDefault(factor);
		bytes[from] = FORMAT_1;
		seal(key, keyFrom, keyTo, bytes, from, to);
	}

	private static boolean isFormat1(byte[] bytes, int from, int to) {
		return to - from >= COPIES_END && bytes[from] == FORMAT_1;
	}

	/** Decodes bytes that have been checked. */
	static Entry decodeChecked(byte[] bytes, int from, int to) {
		try {
			return decodeFields(bytes, from, to);
		}
		catch (IllegalArgumentException | IndexOutOfBoundsException ex) {
			// The checksum matches, so the writer has a bug.
			throw new DamagedEntryException("it makes no sense: " + ex.getMessage());
		}
	}

	private static Entry decodeFields(byte[] bytes, int from, int to) {
		int flags = bytes[from + FLAGS];
		if ((flags & ~KNOWN_FLAGS) != 0 || (flags & (TOMBSTONE | EXPIRES)) == (TOMBSTONE | EXPIRES)) {
			throw new DamagedEntryException("flags " + flags + " are unknown");
		}
		Version version = version(bytes, from);
		Copies copies = copies(bytes, from);
		int at = lineageAt(bytes, from);
		Lineage lineage = isFlagged(bytes, from, LINEAGE) ? LineageFormat.read(bytes, at) : null;
		if (isFlagged(bytes, from, TOMBSTONE)) {
			return new Tombstone(version, copies, lineage);
		}
		int typeAt = at + lineageBytes(bytes, from);
		int length = bytes[typeAt] & 0xff;
		String type = (length == 0) ? DEFAULT_TYPE : new String(bytes, typeAt + 1, length, StandardCharsets.ISO_8859_1);
		return new Live(version, copies, expiresAtMillis(bytes, from), type,
				Value.slice(bytes, typeAt + 1 + length, to), lineage);
	}

	/**
	 * The length of the entry that begins there, up to its value. It exceeds the bytes up
	 * to {@code to} if that is not all there.
	 */
	static int headLength(byte[] bytes, int from, int to) {
		if (to - from < COPIES_END) {
			return COPIES_END;
		}
		int at = lineageAt(bytes, from);
		if (isFlagged(bytes, from, LINEAGE)) {
			if (to - at < Short.BYTES) {
				return at + Short.BYTES - from;
			}
			at += LineageFormat.bytes(bytes, at);
		}
		if (isFlagged(bytes, from, TOMBSTONE)) {
			return at - from;
		}
		return at + 1 + ((at < to) ? bytes[at] & 0xff : 0) - from;
	}

	/**
	 * The beginning of an entry that a store keeps whole elsewhere: its bytes up to the
	 * value, and at least {@value #EXPIRY_END}, with another format, then the length of
	 * the entry (4). It tells all that a reader without interest in the value needs.
	 * @param entry encoded, and longer than {@value #EXPIRY_END} bytes
	 */
	public static byte[] beginning(byte[] entry) {
		int length = Math.max(EXPIRY_END, headLength(entry, 0, entry.length));
		byte[] beginning = Arrays.copyOf(entry, length + Integer.BYTES);
		beginning[0] = BEGINNING;
		INT.set(beginning, length, entry.length);
		return beginning;
	}

	/**
	 * Whether the row of a store, of which these are the bytes or the first ones, is only
	 * a {@link #beginning}. One that is too short for that is damaged, as others are.
	 */
	public static boolean isBeginning(byte[] bytes, int from, int to) {
		return to - from >= EXPIRY_END + Integer.BYTES && bytes[from] == BEGINNING;
	}

	/**
	 * Makes a {@link #beginning} the bytes with which the entry begins, in place.
	 * @return the length of the whole entry
	 */
	public static int toEntry(byte[] bytes, int from, int to) {
		bytes[from] = FORMAT;
		return (int) INT.get(bytes, to - Integer.BYTES);
	}

	private static boolean isFlagged(byte[] bytes, int from, int flag) {
		return (bytes[from + FLAGS] & flag) != 0;
	}

	private static int lineageAt(byte[] bytes, int from) {
		return from + FIXED + (isFlagged(bytes, from, EXPIRES) ? Long.BYTES : 0);
	}

	private static int lineageBytes(byte[] bytes, int from) {
		return isFlagged(bytes, from, LINEAGE) ? LineageFormat.bytes(bytes, lineageAt(bytes, from)) : 0;
	}

	/**
	 * Whether the entry that begins with the first {@value #COPIES_END} of these bytes
	 * was stored under a ballot, without a check of the rest.
	 */
	public static boolean hasLineage(byte[] head) {
		return hasLineageAt(head, 0);
	}

	/** Whether the entry that begins there was stored under a ballot. */
	static boolean hasLineageAt(byte[] bytes, int from) {
		return isFlagged(bytes, from, LINEAGE);
	}

	/**
	 * Clears the flag of the lineage in the beginning of an entry, in place. The bytes of
	 * it that are there stay; nothing reads them.
	 */
	static void clearLineage(byte[] head) {
		head[FLAGS] &= ~LINEAGE;
	}

	/**
	 * Removes the lineage of an entry, for a release that does not know it. The version
	 * stays, and is then the identity.
	 * @param bytes not changed
	 * @return the same bytes, unless the entry has a lineage
	 * @throws DamagedEntryException if it has one, but is not an undamaged entry of this
	 * key
	 */
	public static byte[] withoutLineage(Key key, byte[] bytes) {
		if (bytes.length < COPIES_END || !isFlagged(bytes, 0, LINEAGE)) {
			return bytes;
		}
		check(key.bytes(), 0, key.bytes().length, bytes, 0, bytes.length, false);
		int at = lineageAt(bytes, 0);
		int length = lineageBytes(bytes, 0);
		byte[] shorter = new byte[bytes.length - length];
		System.arraycopy(bytes, 0, shorter, 0, at);
		System.arraycopy(bytes, at + length, shorter, at, shorter.length - at);
		shorter[FLAGS] &= ~LINEAGE;
		seal(key, shorter);
		return shorter;
	}

	/**
	 * The version of the entry that begins with the first {@code length} of these bytes,
	 * without a check of the rest.
	 * @throws DamagedEntryException if they begin no entry of a known format
	 */
	public static Version versionOf(byte[] bytes, int length) {
		requireHead(bytes, length, VERSION_END, "a version");
		return version(bytes, 0);
	}

	/** The version of the entry that begins there, without any check. */
	public static Version version(byte[] bytes, int from) {
		return new Version((long) LONG.get(bytes, from + TIMESTAMP), (long) LONG.get(bytes, from + NODE));
	}

	/**
	 * Compares the versions of the entries that begin at two offsets, without any check.
	 * Versions are laid out to be compared as bytes.
	 */
	static int compareVersions(byte[] one, int from, byte[] other, int otherFrom) {
		return Arrays.compareUnsigned(one, from + TIMESTAMP, from + VERSION_END, other, otherFrom + TIMESTAMP,
				otherFrom + VERSION_END);
	}

	/**
	 * Whether a reader at this instant, in milliseconds since 1970, gets a value from the
	 * entry that begins at {@code from}. Reads at most {@value #EXPIRY_END} bytes,
	 * without a check.
	 */
	static boolean isVisibleAt(byte[] bytes, int from, long millis) {
		return !isFlagged(bytes, from, TOMBSTONE)
				&& (!isFlagged(bytes, from, EXPIRES) || millis < expiresAtMillis(bytes, from));
	}

	/**
	 * The expiry of the entry that begins at {@code from}, as in
	 * {@link Live#expiresAtMillis()}.
	 */
	static long expiresAtMillis(byte[] bytes, int from) {
		return isFlagged(bytes, from, EXPIRES) ? (long) LONG.get(bytes, from + FIXED) : Live.NEVER;
	}

	/**
	 * The expiry of the entry that begins with the first {@code length} of these bytes,
	 * {@value #EXPIRY_END} of them if the entry has as many, without a check of the rest.
	 */
	public static long expiryOf(byte[] bytes, int length) {
		return (length >= EXPIRY_END) ? expiresAtMillis(bytes, 0) : Live.NEVER;
	}

	/**
	 * The copies of the entry that begins with the first {@code length} of these bytes,
	 * without a check of the rest.
	 * @param factor as in {@link #fromFormat1}
	 * @throws DamagedEntryException if they begin no entry of a known format
	 */
	public static Copies copiesOf(byte[] bytes, int length, int factor) {
		requireHead(bytes, length, COPIES_END, "its copies");
		return isFormat1(bytes, 0, length) ? copies(bytes, 0, factor) : copies(bytes, 0);
	}

	/** The copies of the entry in this format that begins there, without any check. */
	static Copies copies(byte[] bytes, int from) {
		return Copies.ofByte(bytes[from + COPIES]);
	}

	/** The copies of the entry in format 1 that begins there, without any check. */
	private static Copies copies(byte[] bytes, int from, int factor) {
		return Copies.ofNumberOrDefault(bytes[from + COPIES] & 0xff, factor);
	}

	/**
	 * The header of the entry that begins with the first {@code length} of these bytes,
	 * without a check of the rest.
	 * @param factor as in {@link #fromFormat1}
	 * @throws DamagedEntryException if they begin no entry of a known format
	 */
	public static EntryHeader header(Key key, byte[] bytes, int length, int factor) {
		return new EntryHeader(key, versionOf(bytes, length), copiesOf(bytes, length, factor),
				isTombstone(bytes, length));
	}

	/**
	 * Whether the entry that begins with the first {@code length} of these bytes is a
	 * tombstone, without a check of the rest.
	 * @throws DamagedEntryException if they begin no entry of a known format
	 */
	public static boolean isTombstone(byte[] bytes, int length) {
		requireHead(bytes, length, COPIES_END, "its copies");
		return isTombstoneAt(bytes, 0);
	}

	/** Whether the entry that begins there is a tombstone, without any check. */
	static boolean isTombstoneAt(byte[] bytes, int from) {
		return isFlagged(bytes, from, TOMBSTONE);
	}

	private static void requireFormat(byte[] bytes, int from, int to) {
		if (to - from < COPIES_END || bytes[from] != FORMAT) {
			throw new DamagedEntryException("it does not begin with format %d and its copies".formatted(FORMAT));
		}
	}

	/** Checks the head of an entry in any format; heads differ only in the copies. */
	private static void requireHead(byte[] bytes, int length, int needed, String what) {
		if (length < needed || bytes[0] < FORMAT_1 || bytes[0] > BEGINNING) {
			throw new DamagedEntryException(
					"it does not begin with a format from %d to %d and %s".formatted(FORMAT_1, BEGINNING, what));
		}
	}

	private static int checksum(byte[] key, int keyFrom, int keyTo, byte[] bytes, int from, int to) {
		CRC32C crc = new CRC32C();
		crc.update(key, keyFrom, keyTo - keyFrom);
		crc.update(bytes, from, CHECKSUM);
		crc.update(bytes, from + FLAGS, to - from - FLAGS);
		return (int) crc.getValue();
	}

}
