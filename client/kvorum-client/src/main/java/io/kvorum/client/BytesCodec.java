package io.kvorum.client;

/** Bytes as they are. */
final class BytesCodec implements Codec<byte[]> {

	static final BytesCodec INSTANCE = new BytesCodec();

	private BytesCodec() {
	}

	@Override
	public String contentType() {
		return "application/octet-stream";
	}

	@Override
	public byte[] encode(byte[] value) {
		return value;
	}

	@Override
	public byte[] decode(byte[] value, String contentType) {
		return value;
	}

}
