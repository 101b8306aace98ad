package io.kvorum.wire;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** The headers that say where a request ends and for whom it is. */
enum GuardedHeader {

	HOST(1, "host") {
		@Override
		@Nullable Refusal check(CharSequence value, boolean again) {
			if (again) {
				return Refusal.HOST_REPEATED;
			}
			return HostRules.isValid(value) ? null : Refusal.HOST_INVALID;
		}
	},

	CONTENT_LENGTH(2, "content-length") {
		@Override
		@Nullable Refusal check(CharSequence value, boolean again) {
			return (again || !isNumber(value)) ? Refusal.CONTENT_LENGTH : null;
		}
	},

	/** Only {@code chunked} is understood by each server on the way. */
	TRANSFER_ENCODING(4, "transfer-encoding") {
		@Override
		@Nullable Refusal check(CharSequence value, boolean again) {
			boolean chunked = AsciiString.contentEqualsIgnoreCase(value, "chunked");
			return (again || !chunked) ? Refusal.TRANSFER_ENCODING : null;
		}
	},

	EXPECT(8, "expect") {
		@Override
		@Nullable Refusal check(CharSequence value, boolean again) {
			boolean toContinue = AsciiString.contentEqualsIgnoreCase(value, "100-continue");
			return (again || !toContinue) ? Refusal.EXPECTATION : null;
		}
	},

	/**
	 * A GET with this header and another one of an old draft of WebSocket has a body of
	 * eight bytes for Netty, without a Content-Length, and for others none.
	 */
	SEC_WEBSOCKET_KEY1(16, "sec-websocket-key1") {
		@Override
		@Nullable Refusal check(CharSequence value, boolean again) {
			return Refusal.OLD_WEB_SOCKET;
		}
	};

	private static final int MAX_DIGITS = 18;

	private final int bit;

	private final String headerName;

	GuardedHeader(int bit, String headerName) {
		this.bit = bit;
		this.headerName = headerName;
	}

	/** The guarded header of this name, if any; the length excludes nearly all others. */
	static @Nullable GuardedHeader of(CharSequence name) {
		GuardedHeader candidate = switch (name.length()) {
			case 4 -> HOST;
			case 6 -> EXPECT;
			case 14 -> CONTENT_LENGTH;
			case 17 -> TRANSFER_ENCODING;
			case 18 -> SEC_WEBSOCKET_KEY1;
			default -> null;
		};
		return (candidate != null && AsciiString.contentEqualsIgnoreCase(name, candidate.headerName)) ? candidate
				: null;
	}

	/**
	 * Checks one line of this header.
	 * @param again whether the request has had one already
	 */
	abstract @Nullable Refusal check(CharSequence value, boolean again);

	/** The bit of this header in a set. */
	int bit() {
		return this.bit;
	}

	private static boolean isNumber(CharSequence value) {
		int length = value.length();
		for (int i = 0; i < length; i++) {
			char c = value.charAt(i);
			if (c < '0' || c > '9') {
				return false;
			}
		}
		return length > 0 && length <= MAX_DIGITS;
	}

}
