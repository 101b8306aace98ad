package io.kvorum.wire;

import io.netty.channel.Channel;

/**
 * Answers the requests that the guard hands on, one at a time. Asked on the event loop of
 * the connection.
 */
interface Answerer {

	/**
	 * Whether it has nothing more to do with a request whose answer is written. Asked at
	 * each user event of the connection.
	 */
	boolean isThrough(Channel channel);

	/** Whether it waits for the rest of the request's body. */
	boolean isBodyWanted(Channel channel);

}
