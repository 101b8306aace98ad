/**
 * Both ends of the replica protocol. A node has one duplex stream to each peer for each
 * event loop, and one for large entries. One buffer carries many frames.
 */
@NullMarked
package io.kvorum.transport;

import org.jspecify.annotations.NullMarked;
