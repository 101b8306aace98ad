package io.kvorum.access;

import org.jspecify.annotations.Nullable;

/**
 * The content of {@code Authorization: Bearer <id>.<secret>}.
 *
 * @param id of the key
 * @param secret {@value #SECRET_LENGTH} characters, which are 256 bits in base64url
 */
record Credentials(String id, String secret) {

	/**
	 * 43 characters of 6 bits hold 256 bits, which are too many for a secret that a
	 * person makes up.
	 */
	static final int SECRET_LENGTH = 43;

	static final int MAX_ID_LENGTH = 64;

	private static final String SCHEME = "Bearer ";

	private static final int MAX_LENGTH = SCHEME.length() + MAX_ID_LENGTH + 1 + SECRET_LENGTH;

	/** Parses the value of the header; null if it has another form. */
	static @Nullable Credentials parse(String header) {
		int length = header.length();
		int dot = length - SECRET_LENGTH - 1;
		if (length > MAX_LENGTH || dot <= SCHEME.length() || header.charAt(dot) != '.'
				|| !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
			return null;
		}
		boolean plain = isPlain(header, SCHEME.length(), dot) && isPlain(header, dot + 1, length);
		return plain ? new Credentials(header.substring(SCHEME.length(), dot), header.substring(dot + 1)) : null;
	}

	/** Whether a text has the form of an id. */
	static boolean isId(String text) {
		return !text.isEmpty() && text.length() <= MAX_ID_LENGTH && isPlain(text, 0, text.length());
	}

	/**
	 * Whether all characters are letters, digits, hyphens or underscores of ASCII, the
	 * alphabet of base64url.
	 */
	private static boolean isPlain(String text, int start, int end) {
		for (int i = start; i < end; i++) {
			char c = text.charAt(i);
			boolean plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
					|| c == '_';
			if (!plain) {
				return false;
			}
		}
		return true;
	}

	/** Omits the secret. */
	@Override
	public String toString() {
		return "Credentials[]";
	}

}
