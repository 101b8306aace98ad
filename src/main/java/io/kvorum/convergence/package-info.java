/** Whether this node has converged with its peers, and whether it has joined them. */
@NullMarked
package io.kvorum.convergence;

import org.jspecify.annotations.NullMarked;
