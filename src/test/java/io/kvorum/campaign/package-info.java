/** Faults drawn from a seed, and clients whose histories are checked meanwhile. */
@NullMarked
package io.kvorum.campaign;

import org.jspecify.annotations.NullMarked;
