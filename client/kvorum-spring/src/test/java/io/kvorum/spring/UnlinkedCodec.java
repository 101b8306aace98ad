package io.kvorum.spring;

import io.kvorum.client.Codec;

/** Of values whose class cannot be loaded. */
public final class UnlinkedCodec implements Codec<Object> {

	/** Makes one. */
	public UnlinkedCodec() {
	}

	@Override
	public String contentType() {
		return "text/plain";
	}

	@Override
	public byte[] encode(Object value) {
		throw new NoClassDefFoundError("encode");
	}

	@Override
	public Object decode(byte[] value, String contentType) {
		throw new NoClassDefFoundError("decode");
	}

}
