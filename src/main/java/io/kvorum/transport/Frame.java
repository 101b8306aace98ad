package io.kvorum.transport;

import io.netty.buffer.ByteBuf;

/**
 * A frame of the replica protocol: some fields and then, perhaps, bytes of any number.
 */
sealed interface Frame permits OperationFrame, CallFrame, ReplyFrame {

	byte[] NO_BYTES = new byte[0];

	/** The length of its fields, including the length field. */
	int headBytes();

	/** Writes all that comes before the tail. */
	void writeHead(ByteBuf out);

	/** The bytes behind the fields. */
	byte[] tail();

	/** Whether it still has to be sent. */
	default boolean isWanted() {
		return true;
	}

}
