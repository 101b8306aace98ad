/** Coordinates the replicas of a key. */
@NullMarked
package io.kvorum.replication;

import org.jspecify.annotations.NullMarked;
