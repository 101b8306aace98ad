/** Quorum decisions: the replies so far, and what follows. Pure values. */
@NullMarked
package io.kvorum.quorum;

import org.jspecify.annotations.NullMarked;
