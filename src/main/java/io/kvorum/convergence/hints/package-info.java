/** Keeps writes that a replica missed, and stores them there later: hinted handoff. */
@NullMarked
package io.kvorum.convergence.hints;

import org.jspecify.annotations.NullMarked;
