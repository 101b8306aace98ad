package io.kvorum.wire;

import java.util.Iterator;
import java.util.Map;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import org.jspecify.annotations.Nullable;

/**
 * Rules for a request beyond those of Netty's decoder. Requests are smuggled between two
 * servers that read the same bytes as different requests. So whatever RFC 9112 leaves to
 * the reader is refused. Pure; one pass over the headers, and no allocation but its
 * iterator.
 */
final class RequestRules {

	private RequestRules() {
	}

	static @Nullable Refusal check(HttpRequest request) {
		HttpVersion version = request.protocolVersion();
		boolean http11 = HttpVersion.HTTP_1_1.equals(version);
		if (!http11 && !HttpVersion.HTTP_1_0.equals(version)) {
			return Refusal.HTTP_VERSION;
		}
		Refusal ofTarget = TargetRules.check(request.uri());
		return (ofTarget != null) ? ofTarget : checkHeaders(request.headers(), http11);
	}

	private static @Nullable Refusal checkHeaders(HttpHeaders headers, boolean http11) {
		int seen = 0;
		Iterator<Map.Entry<CharSequence, CharSequence>> lines = headers.iteratorCharSequence();
		while (lines.hasNext()) {
			Map.Entry<CharSequence, CharSequence> line = lines.next();
			GuardedHeader header = GuardedHeader.of(line.getKey());
			if (header != null) {
				Refusal refusal = header.check(line.getValue(), (seen & header.bit()) != 0);
				if (refusal != null) {
					return refusal;
				}
				seen |= header.bit();
			}
		}
		return checkTogether(seen, http11);
	}

	private static @Nullable Refusal checkTogether(int seen, boolean http11) {
		if ((seen & GuardedHeader.TRANSFER_ENCODING.bit()) != 0) {
			if (!http11) {
				return Refusal.TRANSFER_ENCODING;
			}
			if ((seen & GuardedHeader.CONTENT_LENGTH.bit()) != 0) {
				return Refusal.LENGTH_AND_ENCODING;
			}
		}
		boolean hostless = (seen & GuardedHeader.HOST.bit()) == 0;
		return (http11 && hostless) ? Refusal.HOST_MISSING : null;
	}

}
