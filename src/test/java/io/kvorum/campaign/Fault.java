package io.kvorum.campaign;

/** What can happen to a node. */
enum Fault {

	/** SIGKILL, and a start at the end. */
	KILL(true, 3),

	/** SIGKILL of all nodes at once. */
	KILL_ALL(true, 1),

	/** Several SIGKILLs, each soon after the last start. */
	RESTARTS(true, 2),

	/** SIGSTOP, and SIGCONT at the end. */
	PAUSE(true, 3),

	/** Nothing passes between the node and the others, either way. */
	CUT(false, 3),

	/** Nothing from the node arrives at the others; what they send arrives. */
	CUT_ONE_WAY(false, 3),

	/** So many per cent of the packets between the node and the others are lost. */
	LOSS(false, 2),

	/** All from the node arrives so many milliseconds late. */
	DELAY(false, 2),

	/** The clock is so many milliseconds wrong. */
	CLOCK_JUMP(false, 2),

	/** The clock gains so many thousandths. */
	CLOCK_DRIFT(false, 1),

	/** No space is left. */
	DISK_FULL(true, 2),

	/** Each sync takes so many milliseconds more. */
	DISK_SLOW(true, 2),

	/** No write comes to an end. */
	DISK_HUNG(true, 1),

	/** A sync fails: the node ends, and is started again. */
	DISK_ERROR(true, 1),

	/** All that was not synced is lost. */
	POWER_LOSS(true, 3),

	/** The same of all nodes at once. */
	POWER_LOSS_ALL(true, 2),

	/** The node starts with an empty disk. */
	DISK_LOST(true, 3),

	/** The node starts with a copy of its disk, taken some minutes ago. */
	DISK_OLD(true, 1),

	/** A bit of a table is flipped while the node is down; its disk is replaced later. */
	FLIP_IN_TABLE(true, 2),

	/** A bit of the log is flipped while the node is down; its disk is replaced later. */
	FLIP_IN_LOG(true, 2);

	/** Whether the process or the disk has it, of which there is one to each node. */
	final boolean isOfMachine;

	/** How often it is drawn. */
	final int weight;

	Fault(boolean isOfMachine, int weight) {
		this.isOfMachine = isOfMachine;
		this.weight = weight;
	}

	boolean isOfAllNodes() {
		return this == KILL_ALL || this == POWER_LOSS_ALL;
	}

	boolean isOfClock() {
		return this == CLOCK_JUMP || this == CLOCK_DRIFT;
	}

	/** Whether the node does not have any more what it had acknowledged. */
	boolean losesData() {
		return switch (this) {
			case DISK_LOST, DISK_OLD, FLIP_IN_TABLE, FLIP_IN_LOG -> true;
			default -> false;
		};
	}

	/** Whether it shows if what the node acknowledged is on its disk. */
	boolean triesDisk() {
		return losesData() || this == POWER_LOSS;
	}

}
