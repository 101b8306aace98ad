package io.kvorum.client;

import java.nio.charset.StandardCharsets;

/** Text in UTF-8. */
final class TextCodec implements Codec<String> {

	static final TextCodec INSTANCE = new TextCodec();

	private TextCodec() {
	}

	@Override
	public String contentType() {
		return "text/plain;charset=UTF-8";
	}

	@Override
	public byte[] encode(String value) {
		return value.getBytes(StandardCharsets.UTF_8);
	}

	@Override
	public String decode(byte[] value, String contentType) {
		return new String(value, StandardCharsets.UTF_8);
	}

}
