package io.kvorum.campaign;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Which faults may meet: those in spite of which Kvorum promises that acknowledged writes
 * stay, reads are linearizable and replicas become equal. Whether requests are answered
 * meanwhile is another matter, so any number of nodes may be down, paused or cut off.
 * <p>
 * The script adds what only a run can tell: a disk is lost only when all nodes are
 * members again, since a rebuild takes as long as it takes.
 */
final class Rules {

	/** Far less than a day: "No protection against a clock that is wrong by days". */
	static final int MAX_CLOCK_MILLIS = 60_000;

	private Rules() {
	}

	/** Why a fault may not be added to those of an episode; null where it may. */
	static @Nullable String whyNot(Injection next, List<Injection> others) {
		for (Injection other : others) {
			String why = whyNot(next, other);
			if (why != null) {
				return why;
			}
		}
		return (next.fault() == Fault.CLOCK_JUMP && Math.abs(next.amount()) > MAX_CLOCK_MILLIS)
				? "nothing is promised for clocks that are very wrong (guarantees.md)" : null;
	}

	private static @Nullable String whyNot(Injection one, Injection other) {
		Fault fault = one.fault();
		Fault beside = other.fault();
		// "Two lost disks at the same time: what both had acknowledged and nobody else
		// has is lost" (operations.md). Also one after the other: the first is rebuilt by
		// then
		// only if the third was there.
		if (fault.losesData() && beside.losesData()) {
			return "two disks that lose data";
		}
		// Decision 14 tells an old copy by when others saw the node alive, by its clock.
		if ((fault == Fault.DISK_OLD && beside.isOfClock()) || (beside == Fault.DISK_OLD && fault.isOfClock())) {
			return "an old disk is found out by clocks";
		}
		if (!one.isOnNodeOf(other) || !one.overlaps(other)) {
			return null;
		}
		// No promise: a process is killed, stopped or held up by its disk by one cause.
		if (fault.isOfMachine && beside.isOfMachine) {
			return "two faults of one machine";
		}
		return (fault == beside) ? "the same fault of one node" : null;
	}

}
