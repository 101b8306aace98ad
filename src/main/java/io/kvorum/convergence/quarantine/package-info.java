/**
 * Keeps a node from voting while it lacks what it acknowledged, as after the loss of its
 * disk, or holds what others deleted long ago. {@code Quarantine} runs it: nodes exchange
 * {@code Introduction}s, {@code KnownPeers} keeps those, {@code AdmissionRule} decides,
 * and {@code NodeState} is the result.
 */
@NullMarked
package io.kvorum.convergence.quarantine;

import org.jspecify.annotations.NullMarked;
