package io.kvorum.campaign;

/**
 * A fault of a node, for a while.
 *
 * @param node from 1 on; 0 is all
 * @param fromMillis since the episode began
 * @param toMillis when it ends
 * @param amount of what the fault names, else 0
 * @param outlasts whether it ends only when the faults of machines in its episode have
 * ended and their nodes have started, and these milliseconds have passed
 */
record Injection(Fault fault, int node, int fromMillis, int toMillis, int amount, boolean outlasts) {

	boolean overlaps(Injection other) {
		return (this.outlasts || other.fromMillis < this.toMillis)
				&& (other.outlasts || this.fromMillis < other.toMillis);
	}

	boolean isOnNodeOf(Injection other) {
		return this.node == other.node || this.fault.isOfAllNodes() || other.fault.isOfAllNodes();
	}

	/** As the script reads it. */
	@Override
	public String toString() {
		return "%s %d %d %d %d %b".formatted(this.fault, this.node, this.fromMillis, this.toMillis, this.amount,
				this.outlasts);
	}

}
