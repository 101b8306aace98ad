package io.kvorum.convergence.antientropy;

import io.kvorum.cluster.Member;

/**
 * How repairs with another member go. Instants are milliseconds since 1970, 0 where there
 * was none.
 *
 * @param active whether one is under way
 * @param slicesToDo slices that it is about, or the last one was
 * @param slicesDone those of them that are equal now
 * @param oldestRepairMillis when the repair began that is the longest ago, of all slices
 * @param trouble why the last one did not finish; empty if it did
 */
public record RepairProgress(Member member, boolean active, int slicesToDo, int slicesDone, long startedMillis,
		long finishedMillis, long oldestRepairMillis, String trouble) {
}
