package io.kvorum.convergence.quarantine;

import java.time.Duration;

/**
 * Settings of quarantine.
 *
 * @param settlingTime the time from the start to a rebuild: writes that were under way
 * when the node lost something have ended by then
 * @param timeout how long a peer may take to answer an introduction
 * @param interval how often nodes exchange introductions, and how often a node notes that
 * it is alive
 * @param acceptLoss whether the node is made a member even if it lacks what it
 * acknowledged
 */
public record QuarantineSettings(Duration settlingTime, Duration timeout, Duration interval, boolean acceptLoss) {
}
