package io.kvorum.cassandra;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;

/**
 * The form of an entry in its cell. All of an entry is in one cell, since Cassandra
 * decides between two writes with the same timestamp cell by cell: of several cells it
 * could keep some of each.
 * <p>
 * A byte with the form, the identity of the write (16 bytes), the expiry (8 bytes,
 * milliseconds since 1970), the length of the content type (1 byte), the content type in
 * ISO 8859-1, and the value.
 */
final class StoredEntry {

	private static final byte FORM = 1;

	private static final int BYTE_MASK = 0xff;

	private static final int HEAD_BYTES = 2 + 3 * Long.BYTES;

	private StoredEntry() {
	}

	static ByteBuffer encode(Version identity, long expiresAtMillis, String contentType, Value value) {
		byte[] type = contentType.getBytes(StandardCharsets.ISO_8859_1);
		return ByteBuffer.allocate(HEAD_BYTES + type.length + value.length())
			.put(FORM)
			.putLong(identity.timestamp())
			.putLong(identity.node())
			.putLong(expiresAtMillis)
			.put((byte) type.length)
			.put(type)
			.put(value.array(), value.offset(), value.length())
			.flip();
	}

	/**
	 * Reads a cell.
	 * @throws IllegalStateException if a later release has written it, or no release has
	 */
	static Live decode(ByteBuffer cell) {
		byte[] bytes = new byte[cell.remaining()];
		cell.get(cell.position(), bytes);
		ByteBuffer head = ByteBuffer.wrap(bytes);
		if (bytes.length < HEAD_BYTES || head.get() != FORM) {
			throw unreadable();
		}
		Version identity = new Version(head.getLong(), head.getLong());
		long expiresAtMillis = head.getLong();
		int typeLength = head.get() & BYTE_MASK;
		int end = HEAD_BYTES + typeLength;
		if (end > bytes.length) {
			throw unreadable();
		}
		String contentType = new String(bytes, HEAD_BYTES, typeLength, StandardCharsets.ISO_8859_1);
		return new Live(identity, Copies.DEFAULT, expiresAtMillis, contentType, Value.slice(bytes, end, bytes.length));
	}

	private static IllegalStateException unreadable() {
		return new IllegalStateException(
				"a cell has no entry in the form %d: a later release has written it".formatted(FORM));
	}

}
