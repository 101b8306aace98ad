/**
 * The replica protocol, both ends: one duplex stream for each peer and event loop, whose
 * requests and answers travel together in few buffers.
 */
@NullMarked
package io.kvorum.transport;

import org.jspecify.annotations.NullMarked;
