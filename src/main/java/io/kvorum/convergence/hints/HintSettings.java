package io.kvorum.convergence.hints;

import java.time.Duration;

/**
 * How hints are kept and handed over.
 *
 * @param window hints are kept for a node that has been away for less than this, and no
 * hint gets older
 * @param maxBytes of the entries that wait for one node
 * @param replayInterval how often it is looked whether hints can be handed over
 * @param bytesPerSecond handed over to one node at most
 * @param storeTimeout how long a node may take for one of them
 */
public record HintSettings(Duration window, long maxBytes, Duration replayInterval, long bytesPerSecond,
		Duration storeTimeout) {
}
