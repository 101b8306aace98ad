/**
 * Keeps a node from voting while it lacks what it acknowledged, as after the loss of its
 * disk, or holds what others deleted long ago.
 */
@NullMarked
package io.kvorum.convergence.quarantine;

import org.jspecify.annotations.NullMarked;
