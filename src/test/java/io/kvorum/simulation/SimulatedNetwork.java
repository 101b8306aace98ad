package io.kvorum.simulation;

import java.util.Arrays;

/**
 * Messages between nodes: they are lost, repeated, overtaken by others, and held back at
 * cuts, which may be one-way.
 */
final class SimulatedNetwork {

	private final Timeline timeline;

	private final Chance chance;

	private final Scenario scenario;

	private final EventLog log;

	/** By sender and receiver. */
	private final boolean[][] cut;

	private final long[][] usualNanos;

	private boolean sound;

	SimulatedNetwork(Timeline timeline, Chance chance, Scenario scenario, EventLog log) {
		this.timeline = timeline;
		this.chance = chance;
		this.scenario = scenario;
		this.log = log;
		this.cut = new boolean[scenario.nodes()][scenario.nodes()];
		this.usualNanos = new long[scenario.nodes()][scenario.nodes()];
		for (long[] links : this.usualNanos) {
			for (int to = 0; to < links.length; to++) {
				links[to] = chance.nanos(0.1, 3);
			}
		}
	}

	/**
	 * Brings a message, maybe.
	 * @param delivery told whether it is the first time
	 */
	void send(int from, int to, Delivery delivery) {
		if (this.cut[from][to] || (!this.sound && this.chance.of(this.scenario.loss()))) {
			this.log.add(() -> "n%d -> n%d lost".formatted(from, to));
			return;
		}
		this.timeline.after(delay(from, to), () -> delivery.arrive(true));
		if (!this.sound && this.chance.of(this.scenario.repeats())) {
			this.timeline.after(delay(from, to), () -> delivery.arrive(false));
		}
	}

	/** Brings a message that has been under way for long already. */
	void sendLate(Runnable delivery) {
		this.timeline.after(this.chance.nanos(1, 300), delivery);
	}

	long usualNanos(int from, int to) {
		return this.usualNanos[from][to] + this.usualNanos[to][from];
	}

	private long delay(int from, int to) {
		long nanos = (long) (this.usualNanos[from][to] * this.chance.between(0.5, 1.5));
		return (!this.sound && this.chance.of(this.scenario.stragglers()))
				? Math.min(nanos * this.chance.nanos(10, 1_000) / 1_000_000, 3_000_000_000L) : nanos;
	}

	/** Cuts the cluster in two, or off one node, in both or in one direction. */
	void partition() {
		int nodes = this.cut.length;
		if (nodes == 1) {
			return;
		}
		int side = 1 + this.chance.below((1 << nodes) - 2);
		boolean oneWay = this.chance.of(0.3);
		this.log.add(() -> "cut %s%s".formatted(Integer.toBinaryString(side), oneWay ? ", one-way" : ""));
		for (int from = 0; from < nodes; from++) {
			for (int to = 0; to < nodes; to++) {
				boolean leaves = (side & 1 << from) != 0 && (side & 1 << to) == 0;
				boolean enters = (side & 1 << from) == 0 && (side & 1 << to) != 0;
				this.cut[from][to] |= leaves || (enters && !oneWay);
			}
		}
	}

	/** Cuts what one node sends to another, and maybe what it gets from it. */
	void cutLink(int from, int to, boolean oneWay) {
		this.log.add(() -> "cut n%d %s n%d".formatted(from, oneWay ? "->" : "<->", to));
		this.cut[from][to] = true;
		this.cut[to][from] |= !oneWay;
	}

	/** Cuts off one node. */
	void isolate(int node) {
		for (int other = 0; other < this.cut.length; other++) {
			this.cut[node][other] = true;
			this.cut[other][node] = true;
		}
	}

	/** Whether one node reaches no other one, nor is reached. */
	boolean isIsolated(int node) {
		for (int other = 0; other < this.cut.length; other++) {
			if (other != node && (!this.cut[node][other] || !this.cut[other][node])) {
				return false;
			}
		}
		return true;
	}

	void heal() {
		this.log.add(() -> "cuts are healed");
		for (boolean[] links : this.cut) {
			Arrays.fill(links, false);
		}
	}

	/** From now on no message is lost or late. */
	void becomeSound() {
		heal();
		this.sound = true;
	}

	/** What a message does where it arrives. */
	@FunctionalInterface
	interface Delivery {

		void arrive(boolean firstTime);

	}

}
