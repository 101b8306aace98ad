package io.kvorum.convergence.hints;

import java.time.Duration;

/**
 * Settings of hinted handoff.
 *
 * @param window the longest absence of a node for which hints are kept, and the greatest
 * age of a hint
 * @param maxBytes the bytes of entries that wait for one node, beyond which it gets no
 * further hint
 * @param replayInterval the time between two attempts to hand hints over
 * @param bytesPerSecond the most bytes of entries, each second, to hand over to one node
 * @param storeTimeout how long a node may take to store one hint
 */
public record HintSettings(Duration window, long maxBytes, Duration replayInterval, long bytesPerSecond,
		Duration storeTimeout) {
}
