package io.kvorum.wire;

import org.jspecify.annotations.Nullable;

/**
 * Rules for the target of a request: a path spelled plainly and a query of URI
 * characters. A proxy in front of the port could read a path in another spelling
 * differently.
 * <p>
 * Only the origin-form is taken (RFC 9112, 3.2.1). The authority-form belongs to CONNECT
 * and the asterisk-form to OPTIONS for a whole server; the port has neither. The
 * absolute-form, which a server should take, is refused too: it is sent to proxies only,
 * and brings a second, contradicting host.
 */
final class TargetRules {

	private static final boolean[] URI_CHARACTERS = new boolean[128];

	static {
		for (char c = '!'; c <= '~'; c++) {
			URI_CHARACTERS[c] = "\"#<>\\^`{|}".indexOf(c) < 0;
		}
	}

	private TargetRules() {
	}

	static @Nullable Refusal check(String target) {
		if (target.isEmpty() || target.charAt(0) != '/') {
			return Refusal.TARGET_FORM;
		}
		int query = target.indexOf('?');
		int pathEnd = (query < 0) ? target.length() : query;
		Refusal ofPath = checkPath(target, pathEnd);
		return (ofPath != null) ? ofPath : checkQuery(target, pathEnd);
	}

	private static @Nullable Refusal checkPath(String target, int end) {
		int segment = 1;
		for (int i = 1; i < end; i++) {
			char c = target.charAt(i);
			// Brackets are for hosts (RFC 3986, 3.2.2). Clients put them into queries
			// too.
			if (!isUriCharacter(c) || c == '[' || c == ']') {
				return Refusal.TARGET_CHARACTERS;
			}
			if (c == ';' || c == '%') {
				return Refusal.PATH_SPELLING;
			}
			if (c == '/') {
				if (i == segment || isDots(target, segment, i)) {
					return Refusal.PATH_SPELLING;
				}
				segment = i + 1;
			}
		}
		return isDots(target, segment, end) ? Refusal.PATH_SPELLING : null;
	}

	private static @Nullable Refusal checkQuery(String target, int start) {
		int end = target.length();
		for (int i = start; i < end; i++) {
			char c = target.charAt(i);
			if (!isUriCharacter(c) || (c == '%' && !isEscape(target, i))) {
				return Refusal.TARGET_CHARACTERS;
			}
		}
		return null;
	}

	private static boolean isUriCharacter(char c) {
		return c < URI_CHARACTERS.length && URI_CHARACTERS[c];
	}

	private static boolean isDots(String target, int start, int end) {
		int length = end - start;
		return length > 0 && length <= 2 && target.charAt(start) == '.' && target.charAt(end - 1) == '.';
	}

	private static boolean isEscape(String target, int percent) {
		return percent + 2 < target.length() && Character.digit(target.charAt(percent + 1), 16) >= 0
				&& Character.digit(target.charAt(percent + 2), 16) >= 0;
	}

}
