/** Compares replicas by digests of partitions and makes them equal. */
@NullMarked
package io.kvorum.convergence.antientropy;

import org.jspecify.annotations.NullMarked;
