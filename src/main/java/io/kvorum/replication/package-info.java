/**
 * The replica port, the replica of this node, and what coordination, ranges and
 * convergence share.
 */
@NullMarked
package io.kvorum.replication;

import org.jspecify.annotations.NullMarked;
