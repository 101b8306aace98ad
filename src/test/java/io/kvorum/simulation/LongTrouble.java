package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

import org.jspecify.annotations.Nullable;

/**
 * What goes wrong in minutes: crashes, cuts, clocks and disks. One node at a time may
 * come into a state that it has to be rebuilt from, and only while each other one votes:
 * two that wait for each other wait for an operator.
 */
final class LongTrouble {

	private static final double SECOND = 1_000;

	/** After which a node that comes back is rebuilt, whatever its clock says. */
	private static final long LONG_AGO_NANOS = 60_000_000_000L;

	private static final double MOST_SHORT_ABSENCE = 20 * SECOND;

	private static final double MOST_LONG_ABSENCE = 180 * SECOND;

	private static final int BACKUPS = 3;

	/** By which nodes that were cut off know each other again. */
	private static final long ACQUAINTED_NANOS = 5_000_000_000L;

	private static final double SHORTEST_CUT = 3 * SECOND;

	private static final double LONGEST_CUT = 120 * SECOND;

	private final SimulatedCluster cluster;

	private final LongScenario scenario;

	private final Chance chance;

	/** Lets clients do something. */
	private final Runnable work;

	/** Told what is still to be there once all nodes were restored. */
	private final LongConsumer restored;

	private final ClusterBackups clusterBackups;

	private final List<Backup> backups = new ArrayList<>();

	/** Away for long, or without its disk, and without a vote since. */
	private @Nullable SimulatedNode doubtful;

	/** That have not ended. */
	private int cuts;

	/** When the last one ended. */
	private long healedAt;

	private boolean ended;

	/**
	 * The trouble of a history.
	 * @param restored told the instant before which what was acknowledged is to be there,
	 * once all nodes were restored
	 */
	LongTrouble(SimulatedCluster cluster, LongScenario scenario, Chance chance, Runnable work, LongConsumer restored) {
		this.cluster = cluster;
		this.scenario = scenario;
		this.chance = chance;
		this.work = work;
		this.restored = restored;
		this.clusterBackups = new ClusterBackups(cluster, chance);
	}

	/** Lets things go wrong within this time. */
	void begin(long nanos) {
		Scenario cluster = this.scenario.cluster();
		for (int i = 0; i < BACKUPS; i++) {
			sometime(nanos, () -> backUp(any()));
		}
		for (int i = 0; i < cluster.crashes(); i++) {
			sometime(nanos, () -> shortAbsence(any()));
		}
		sometime(nanos, this::beDoubtful);
		sometime(nanos, this::beDoubtful);
		if (cluster.partitions() > 0 && this.chance.of(0.5)) {
			sometime(nanos / 4, this::outlastTombstones);
		}
		for (int i = 0; i < cluster.partitions(); i++) {
			sometime(nanos, this::cut);
		}
		for (int i = 0; i < cluster.jumps(); i++) {
			sometime(nanos, this::jump);
		}
		if (this.scenario.restoresAll()) {
			this.cluster.nodes().forEach(node -> sometime(nanos, () -> this.clusterBackups.take(node)));
			sometime(nanos, this::loseAll);
		}
	}

	/** A disaster, and an operator some seconds later. */
	private void loseAll() {
		if (this.clusterBackups.areThereForAll() && this.chance.of(0.5)) {
			crashAll();
			unlessEnded(millis(SECOND, MOST_SHORT_ABSENCE), this::restoreAll);
		}
	}

	private void crashAll() {
		this.cluster.nodes().stream().filter(SimulatedNode::isStarted).forEach(SimulatedNode::crash);
	}

	private void restoreAll() {
		crashAll();
		long since = this.clusterBackups.restore();
		if (since != ClusterBackups.NONE) {
			this.backups.clear();
			this.doubtful = null;
			this.restored.accept(since);
		}
		this.cluster.nodes().forEach(node -> start(node, this.chance.nanos(1, 5 * SECOND)));
	}

	/** Nothing goes wrong any more. */
	void end() {
		this.ended = true;
	}

	private void sometime(long nanos, Runnable task) {
		unlessEnded(this.chance.between(0, nanos), task);
	}

	private void unlessEnded(long nanos, Runnable task) {
		this.cluster.timeline().after(nanos, () -> {
			if (!this.ended) {
				task.run();
				workSoon();
			}
		});
	}

	/** Where something has just changed most is to be seen. */
	private void workSoon() {
		if (this.chance.of(0.4)) {
			this.cluster.timeline().after(this.chance.nanos(1, 3 * SECOND), this.work);
		}
	}

	private SimulatedNode any() {
		return this.cluster.any();
	}

	/** Cuts a node off for longer than tombstones are kept. */
	private void outlastTombstones() {
		SimulatedNode node = any();
		node.log("is cut off");
		this.cluster.network().isolate(node.index());
		this.cuts++;
		unlessEnded(millis(LONGEST_CUT / 2, 1.3 * LONGEST_CUT), this::healSome);
		this.cluster.timeline().after(this.chance.nanos(SECOND, LONGEST_CUT / 4), this.work);
	}

	private void cut() {
		if (this.chance.of(0.5)) {
			this.cluster.network().partition();
		}
		else {
			int nodes = this.cluster.nodes().size();
			int from = this.chance.below(nodes);
			this.cluster.network()
				.cutLink(from, (from + 1 + this.chance.below(nodes - 1)) % nodes, this.chance.of(0.5));
		}
		this.cuts++;
		unlessEnded(millis(SHORTEST_CUT, LONGEST_CUT), this::healSome);
	}

	private void healSome() {
		if (--this.cuts == 0 || this.chance.of(0.2)) {
			this.healedAt = this.cluster.timeline().now();
			this.cluster.network().heal();
		}
	}

	private long millis(double least, double most) {
		return (long) (1e6 * this.chance.between(least, most));
	}

	private void jump() {
		SimulatedNode node = any();
		double most = Math.max(400, this.scenario.cluster().skewMillis());
		double millis = this.chance.between(-most, most);
		this.cluster.log().add(() -> "clock of n%d is now off by %.0f ms".formatted(node.index(), millis));
		node.time().correct();
		node.time().jump(millis);
	}

	private void shortAbsence(SimulatedNode node) {
		if (node.isUp()) {
			node.crash();
			start(node, this.chance.of(0.5) ? this.chance.nanos(1, SECOND) : millis(SECOND, MOST_SHORT_ABSENCE));
		}
	}

	private void start(SimulatedNode node, long nanos) {
		unlessEnded(nanos, () -> {
			if (!node.isStarted()) {
				node.start();
			}
		});
	}

	private void beDoubtful() {
		if (this.doubtful != null && isTrusted(this.doubtful)) {
			this.doubtful = null;
		}
		if (this.doubtful != null || !this.cluster.nodes().stream().allMatch(SimulatedNode::mayVote)) {
			return;
		}
		SimulatedNode node = any();
		this.doubtful = node;
		int dice = this.scenario.losesDisks() ? this.chance.below(3) : 0;
		switch (dice) {
			case 0 -> {
				node.crash();
				start(node, millis(MOST_SHORT_ABSENCE, MOST_LONG_ABSENCE));
			}
			case 1 -> {
				backUp(node);
				node.crash();
				lose(node);
				start(node, this.chance.nanos(1, 5 * SECOND));
			}
			default -> restore();
		}
	}

	/**
	 * Whether a node votes and the others agree: one that is cut off may vote with an old
	 * disk until it meets them.
	 */
	private boolean isTrusted(SimulatedNode node) {
		return node.mayVote() && !this.cluster.network().isIsolated(node.index())
				&& this.cluster.timeline().now() - this.healedAt > ACQUAINTED_NANOS;
	}

	void lose(SimulatedNode node) {
		node.log("loses its disk");
		node.disk().lose();
	}

	private void backUp(SimulatedNode node) {
		if (node.mayVote()) {
			node.log("is backed up");
			this.backups.add(new Backup(node, node.disk().content().copy(), this.cluster.timeline().now()));
		}
	}

	/**
	 * Puts an old disk back: one that has been replaced since, or one so old that its
	 * node must notice. Nobody can notice what a disk lacks that was set back a little.
	 */
	private void restore() {
		List<Backup> possible = this.backups.stream().filter(this::canBeNoticed).toList();
		if (possible.isEmpty()) {
			return;
		}
		Backup backup = possible.get(this.chance.below(possible.size()));
		SimulatedNode node = backup.node;
		this.doubtful = node;
		node.crash();
		node.log("has an old disk again");
		node.disk().replaceBy(backup.content);
		start(node, this.chance.nanos(1, 5 * SECOND));
	}

	private boolean canBeNoticed(Backup backup) {
		return backup.content.identity != backup.node.disk().content().identity
				|| this.cluster.timeline().now() - backup.takenAt > LONG_AGO_NANOS;
	}

	private record Backup(SimulatedNode node, DiskContent content, long takenAt) {
	}

}
