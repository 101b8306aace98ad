package io.kvorum.wire;

import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpVersion;

/** Problem details (RFC 9457) of the refusals; each body is rendered once. */
final class WireProblem {

	private static final Map<Refusal, byte[]> BODIES = new EnumMap<>(Refusal.class);

	static {
		for (Refusal refusal : Refusal.values()) {
			BODIES.put(refusal, json(refusal).getBytes(StandardCharsets.UTF_8));
		}
	}

	private WireProblem() {
	}

	/** The last response of a connection. */
	static FullHttpResponse response(Refusal refusal) {
		byte[] body = BODIES.getOrDefault(refusal, new byte[0]);
		FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, refusal.nettyStatus(),
				Unpooled.wrappedBuffer(body));
		response.headers()
			.set(HttpHeaderNames.CONTENT_TYPE, "application/problem+json")
			.setInt(HttpHeaderNames.CONTENT_LENGTH, body.length)
			.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
		return response;
	}

	/** No text of a refusal needs escaping. */
	private static String json(Refusal refusal) {
		return """
				{"type":"%s","title":"%s","status":%d,"detail":"%s"}""".formatted(refusal.type(),
				refusal.nettyStatus().reasonPhrase(), refusal.status(), refusal.detail());
	}

}
