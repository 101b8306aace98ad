package io.kvorum.convergence.change;

/**
 * How far a node is in a change of the topology. Nodes of the change begin side by side
 * with nodes that have the topology before it, and end side by side with nodes that have
 * the one after it.
 */
public enum Step {

	/** It still accepts nodes that have the topology before. */
	OPEN(1, "open"),

	/** It refuses nodes that have the topology before, for good. */
	CLOSED(2, "closed"),

	/** It also has all that it is to hold after the change. */
	SYNCED(3, "synced"),

	/**
	 * It knows that enough nodes are synced: it may get the topology after the change.
	 */
	DONE(4, "done");

	private final byte code;

	private final String text;

	Step(int code, String text) {
		this.code = (byte) code;
		this.text = text;
	}

	/** The code on disk, on the wire and in meters. */
	public byte code() {
		return this.code;
	}

	/**
	 * The step with this code.
	 * @throws IllegalArgumentException if there is none
	 */
	static Step ofCode(byte code) {
		for (Step step : values()) {
			if (step.code == code) {
				return step;
			}
		}
		throw new IllegalArgumentException("no step of a change has the code " + code);
	}

	/** The name for operators. */
	public String text() {
		return this.text;
	}

	/** Whether a node at this step refuses nodes that have the topology before. */
	public boolean isClosed() {
		return this != OPEN;
	}

	/** Whether a node at this step has all that it is to hold after the change. */
	public boolean isSynced() {
		return this == SYNCED || this == DONE;
	}

}
