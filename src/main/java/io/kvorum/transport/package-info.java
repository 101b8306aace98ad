/**
 * Both ends of the replica protocol: one duplex stream for each peer and event loop.
 * Requests and replies travel together in few buffers.
 */
@NullMarked
package io.kvorum.transport;

import org.jspecify.annotations.NullMarked;
