package io.kvorum.operation;

/**
 * The key that a client gives a write, so that a repeat of it is told from a new one
 * (draft-ietf-httpapi-idempotency-key-header).
 *
 * @param caller the client, so that keys of different ones do not meet; empty if clients
 * are not told apart
 * @param name 1 to {@value #MAX_LENGTH} visible ASCII characters
 */
public record IdempotencyKey(String caller, String name) {

	/** The longest key, in characters. */
	public static final int MAX_LENGTH = 128;

	private static final char FIRST_VISIBLE = 0x21;

	private static final char LAST_VISIBLE = 0x7E;

	/**
	 * Checks the key.
	 * @throws IllegalArgumentException if it has another form; the message says what is
	 * allowed
	 */
	public IdempotencyKey {
		if (name.isEmpty() || name.length() > MAX_LENGTH
				|| !name.chars().allMatch(c -> c >= FIRST_VISIBLE && c <= LAST_VISIBLE)) {
			throw new IllegalArgumentException(
					"an idempotency key is 1 to %d visible ASCII characters, without spaces".formatted(MAX_LENGTH));
		}
	}

}
