package io.kvorum.convergence.quarantine;

import java.time.Duration;

/**
 * How a node finds out whether it may be believed.
 *
 * @param settlingTime before it is rebuilt, so that writes that were under way when it
 * lost something have come to an end
 * @param timeout how long another node may take to introduce itself
 * @param interval how often nodes meet, and how often it is noted that this one is alive
 * @param acceptLoss whether it is to be believed as it is
 */
public record QuarantineSettings(Duration settlingTime, Duration timeout, Duration interval, boolean acceptLoss) {
}
