/** Removes tombstones that no replica needs any more. */
@NullMarked
package io.kvorum.convergence.tombstones;

import org.jspecify.annotations.NullMarked;
