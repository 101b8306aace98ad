/**
 * Finds out in what replicas differ and makes them equal, and says from when on nobody
 * needs a tombstone any more.
 */
@NullMarked
package io.kvorum.replication.antientropy;

import org.jspecify.annotations.NullMarked;
