package io.kvorum.wire;

/**
 * Checks the value of a Host header: {@code uri-host [ ":" port ]} (RFC 9110, 7.2; RFC
 * 3986, 3.2.2). An empty value is legal: it says that the target has no authority.
 * Narrower than the grammar: a colon needs a host before it and a port after it, since
 * later code makes a number of the port. An IPvFuture address is refused. Wider: the
 * digits after a percent sign and the form of an IPv6 address are not checked.
 */
final class HostRules {

	private static final int MAX_PORT = 65_535;

	private static final boolean[] NAME_CHARACTERS = new boolean[128];

	static {
		for (char c = '!'; c <= '~'; c++) {
			NAME_CHARACTERS[c] = Character.isLetterOrDigit(c) || "-._~%!$&'()*+,;=".indexOf(c) >= 0;
		}
	}

	private HostRules() {
	}

	static boolean isValid(CharSequence host) {
		int length = host.length();
		int end = (length > 0 && host.charAt(0) == '[') ? literalEnd(host) : nameEnd(host);
		return end == length || (end > 0 && host.charAt(end) == ':' && isPort(host, end + 1));
	}

	/** Index after the address in brackets; -1 if there is none. */
	private static int literalEnd(CharSequence host) {
		for (int i = 1; i < host.length(); i++) {
			char c = host.charAt(i);
			if (c == ']') {
				return (i > 1) ? i + 1 : -1;
			}
			if (Character.digit(c, 16) < 0 && c != ':' && c != '.') {
				return -1;
			}
		}
		return -1;
	}

	/** Index after the name or IPv4 address; -1 if it has a character of neither. */
	private static int nameEnd(CharSequence host) {
		int length = host.length();
		for (int i = 0; i < length; i++) {
			char c = host.charAt(i);
			if (c == ':') {
				return (i > 0) ? i : -1;
			}
			if (!isNameCharacter(c)) {
				return -1;
			}
		}
		return length;
	}

	private static boolean isNameCharacter(char c) {
		return c < NAME_CHARACTERS.length && NAME_CHARACTERS[c];
	}

	private static boolean isPort(CharSequence host, int start) {
		int length = host.length();
		if (start == length || length - start > 5) {
			return false;
		}
		int port = 0;
		for (int i = start; i < length; i++) {
			char c = host.charAt(i);
			if (c < '0' || c > '9') {
				return false;
			}
			port = port * 10 + (c - '0');
		}
		return port <= MAX_PORT;
	}

}
