/**
 * The HTTP port, before the application: refuses what is not well-formed HTTP/1.1, and
 * bounds the time and the memory that one connection takes. It depends on Netty and
 * reactor-netty and on no other package of Kvorum.
 * <p>
 * All states of a connection and their transitions are in {@link ConnectionState}.
 * {@link RequestRules} and {@link HeadScanner} decide what is refused, {@link Patience}
 * and {@link OutboundWatch} what takes too long. These five are pure. {@link HttpPort}
 * installs the handlers: <pre>
 *   bytes, behind TLS if there is any
 *    ↓    ↑
 *   RequestDecoder    one request at a time; the next ones wait as bytes
 *   ResponseEncoder   a head and a short body become one buffer
 *   RequestGuard      refuses, fails bodies, closes; ConnectionTimer and Drain tell it when
 *   WireRouter        to a WireRoute, or on
 *   OutboundGate      tells a long answer when the client takes more of it
 *    ↓    ↑
 *   HttpTrafficHandler of reactor-netty
 * </pre>
 */
@NullMarked
package io.kvorum.wire;

import org.jspecify.annotations.NullMarked;
