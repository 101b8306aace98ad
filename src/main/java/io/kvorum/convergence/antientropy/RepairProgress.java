package io.kvorum.convergence.antientropy;

import io.kvorum.cluster.Member;

/**
 * The progress of repairs with another member. Instants are milliseconds since 1970, or 0
 * for never.
 *
 * @param active whether a repair is under way
 * @param slicesToDo the number of slices in this repair, or else in the last one
 * @param slicesDone the number of these slices that are equal
 * @param oldestRepairMillis when the oldest of the last repairs of all slices began
 * @param trouble why the last repair failed, or left entries that cannot be read; empty
 * without such a reason, or if the peer was only away, starting, stopping or in
 * quarantine
 */
public record RepairProgress(Member member, boolean active, int slicesToDo, int slicesDone, long startedMillis,
		long finishedMillis, long oldestRepairMillis, String trouble) {
}
