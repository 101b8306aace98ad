package io.kvorum.transport;

import io.netty.buffer.ByteBuf;

/**
 * A frame of the replica protocol: fields, then a tail of any length.
 */
sealed interface Frame permits OperationFrame, CallFrame, ReplyFrame {

	byte[] NO_BYTES = new byte[0];

	/** Bytes of its fields, including the leading length. */
	int headBytes();

	void writeHead(ByteBuf out);

	/** The bytes after the fields. */
	byte[] tail();

	/** Whether it still needs to be sent. */
	default boolean isWanted() {
		return true;
	}

}
