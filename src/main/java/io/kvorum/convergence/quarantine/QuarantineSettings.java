package io.kvorum.convergence.quarantine;

import java.time.Duration;

/**
 * Settings of quarantine.
 *
 * @param settlingTime the time from the start to a rebuild: writes and write-backs that
 * were under way when the node lost something have ended by then
 * @param timeout how long a peer may take to answer an introduction
 * @param interval how often nodes exchange introductions, and how often a node notes that
 * it is alive
 * @param foundingTime how long a new node without others listens before it is a cluster
 * of one. If it is the first node of a cluster that has grown, and has lost its disk, one
 * of the others finds it
 * @param acceptLoss whether the node is made a member even if it lacks what it
 * acknowledged
 */
public record QuarantineSettings(Duration settlingTime, Duration timeout, Duration interval, Duration foundingTime,
		boolean acceptLoss) {
}
