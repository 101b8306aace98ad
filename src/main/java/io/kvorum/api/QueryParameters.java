package io.kvorum.api;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The parameters of a query string, decoded strictly: ill-formed percent-encoding and
 * ill-formed UTF-8 are errors, never a replacement character. It searches the text once
 * for each parameter, and decodes only that one.
 */
final class QueryParameters {

	private final String raw;

	/** Takes a raw query string; null if there is none. */
	QueryParameters(@Nullable String raw) {
		this.raw = (raw != null) ? raw : "";
	}

	/** The length of the raw query string, in characters. */
	int length() {
		return this.raw.length();
	}

	/**
	 * Returns the bytes of a parameter, which are well-formed UTF-8.
	 * @return null if it is missing
	 * @throws ProblemException if it is repeated or ill-formed
	 */
	byte @Nullable [] bytes(String name) {
		int start = find(name, 0);
		if (start < 0) {
			return null;
		}
		int end = this.raw.indexOf('&', start);
		if (end >= 0 && find(name, end + 1) >= 0) {
			throw ProblemException.badRequest(ProblemType.REPEATED_PARAMETER,
					"The parameter '%s' is given more than once. Give it once.".formatted(name));
		}
		return decode(name, start, (end >= 0) ? end : this.raw.length());
	}

	/** Returns a parameter as text; null if it is missing. */
	@Nullable String text(String name) {
		byte[] bytes = bytes(name);
		return (bytes != null) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

	/**
	 * Returns the index of the value of a parameter; -1 if there is none from here on.
	 */
	private int find(String name, int from) {
		int start = from;
		while (start <= this.raw.length()) {
			if (this.raw.startsWith(name, start)) {
				int after = start + name.length();
				if (after < this.raw.length() && this.raw.charAt(after) == '=') {
					return after + 1;
				}
				if (after == this.raw.length() || this.raw.charAt(after) == '&') {
					// Without "=": present and empty.
					return after;
				}
			}
			int next = this.raw.indexOf('&', start);
			if (next < 0) {
				return -1;
			}
			start = next + 1;
		}
		return -1;
	}

	private byte[] decode(String name, int start, int end) {
		byte[] bytes = new byte[end - start];
		int length = 0;
		boolean ascii = true;
		int at = start;
		while (at < end) {
			char c = this.raw.charAt(at++);
			int decoded = switch (c) {
				case '+' -> ' ';
				case '%' -> {
					at += 2;
					yield (at <= end) ? hex(this.raw.charAt(at - 2), this.raw.charAt(at - 1)) : -1;
				}
				default -> (c < 0x80) ? c : -1;
			};
			if (decoded < 0) {
				throw illFormed(name, "percent-encoding. Write every byte outside ASCII as %XX");
			}
			ascii &= decoded < 0x80;
			bytes[length++] = (byte) decoded;
		}
		byte[] value = (length == bytes.length) ? bytes : Arrays.copyOf(bytes, length);
		if (!ascii) {
			requireUtf8(name, value);
		}
		return value;
	}

	private static int hex(char high, char low) {
		int value = (Character.digit(high, 16) << 4) | Character.digit(low, 16);
		return (high < 0x80 && low < 0x80) ? value : -1;
	}

	private static void requireUtf8(String name, byte[] value) {
		try {
			// A new decoder reports what is ill-formed, overlong or a surrogate.
			var _ = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value));
		}
		catch (CharacterCodingException _) {
			throw illFormed(name, "UTF-8. Encode the text as UTF-8 and the bytes as %XX");
		}
	}

	private static ProblemException illFormed(String name, String what) {
		return ProblemException.badRequest(ProblemType.ILL_FORMED_PARAMETER,
				"The parameter '%s' is not well-formed %s.".formatted(name, what));
	}

}
