/** The change of a cluster from one topology to another while it serves. */
@NullMarked
package io.kvorum.convergence.change;

import org.jspecify.annotations.NullMarked;
