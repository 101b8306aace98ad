package io.kvorum.kv;

import java.nio.charset.StandardCharsets;

/**
 * The keys under which a cluster keeps its own entries, behind those of all clients.
 * Their first byte begins no text in UTF-8, and the keys of clients are such texts.
 */
public final class InternalKeys {

	private static final byte FIRST = (byte) 0xFF;

	/** The second byte of the records of requests. */
	private static final byte REQUEST = 'r';

	/** The key of what was decided about the nodes of the cluster. */
	public static final Key LAYOUT = Key.of(new byte[] { FIRST, 'l' });

	private InternalKeys() {
	}

	public static boolean isInternal(Key key) {
		return key.bytes()[0] == FIRST;
	}

	/** The key of the record of a request. */
	public static Key ofRequest(String name) {
		byte[] text = name.getBytes(StandardCharsets.UTF_8);
		byte[] key = new byte[2 + text.length];
		key[0] = FIRST;
		key[1] = REQUEST;
		System.arraycopy(text, 0, key, 2, text.length);
		return Key.of(key);
	}

	public static boolean isRequest(Key key) {
		return isInternal(key) && key.bytes().length > 2 && key.bytes()[1] == REQUEST;
	}

	/** The keys of the records of requests. */
	public static KeyRange requests() {
		return KeyRange.of(new byte[] { FIRST, REQUEST }, new byte[] { FIRST, REQUEST + 1 });
	}

	/** A key right before those of the records of requests. */
	public static Key beforeRequests() {
		return Key.of(new byte[] { FIRST, REQUEST });
	}

	/** The bound of the keys of clients, exclusive. */
	static byte[] bound() {
		return new byte[] { FIRST };
	}

}
