/**
 * The guard of the public HTTP port: refuses what is not well-formed HTTP/1.1, and bounds
 * the time and the memory that one connection can take, before the application sees a
 * request. It knows Netty and reactor-netty, and nothing of Kvorum.
 */
@NullMarked
package io.kvorum.wire;

import org.jspecify.annotations.NullMarked;
