/** Requests at a constant rate, whatever becomes of the nodes, and an account of each. */
@NullMarked
package io.kvorum.testing.load;

import org.jspecify.annotations.NullMarked;
