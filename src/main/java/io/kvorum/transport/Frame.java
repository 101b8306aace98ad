package io.kvorum.transport;

import io.netty.buffer.ByteBuf;

/**
 * A frame of the replica protocol: some fields and then, perhaps, bytes of any number.
 */
sealed interface Frame permits OperationFrame, CallFrame, ReplyFrame {

	byte[] NO_BYTES = new byte[0];

	/** Of its fields, the length that comes first included. */
	int headBytes();

	/** Writes all that comes before the tail. */
	void writeHead(ByteBuf out);

	/** What comes last. */
	byte[] tail();

	/** Whether it is still to be sent. */
	default boolean isWanted() {
		return true;
	}

}
