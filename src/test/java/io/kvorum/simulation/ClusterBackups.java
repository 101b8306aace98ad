package io.kvorum.simulation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.convergence.quarantine.Restored;

/** Backups of all nodes, made at different moments, and their restore together. */
final class ClusterBackups {

	/** What is returned where nothing was restored. */
	static final long NONE = -1;

	private final SimulatedCluster cluster;

	private final Chance chance;

	private final Map<SimulatedNode, List<Backup>> backups = new LinkedHashMap<>();

	ClusterBackups(SimulatedCluster cluster, Chance chance) {
		this.cluster = cluster;
		this.chance = chance;
	}

	/** Backs up a node, if it knows of nothing that it lacks or others do. */
	void take(SimulatedNode node) {
		Convergence convergence = node.convergence();
		if (node.mayVote() && convergence != null && convergence.isConverged()) {
			node.log("is backed up with all others");
			this.backups.computeIfAbsent(node, _ -> new ArrayList<>())
				.add(new Backup(node.disk().content().copy(), node.time().millis(), this.cluster.timeline().now()));
		}
	}

	boolean areThereForAll() {
		return this.backups.size() == this.cluster.nodes().size();
	}

	/**
	 * Restores all nodes, which are down: each from its newest backup, and one from any,
	 * so that this one may be too old for the others.
	 * @return when the first of the backups was made that count: what was acknowledged
	 * before must be there; {@link #NONE} where there are not enough
	 */
	long restore() {
		SimulatedNode odd = this.cluster.any();
		Map<SimulatedNode, Backup> chosen = new LinkedHashMap<>();
		this.backups.forEach((node, made) -> chosen.put(node,
				(node == odd) ? made.get(this.chance.below(made.size())) : made.getLast()));
		long newest = chosen.values().stream().mapToLong(Backup::madeMillis).max().orElse(0);
		List<Backup> fresh = chosen.values().stream().filter(made -> newest - made.madeMillis <= mostMillis()).toList();
		if (fresh.size() < this.cluster.nodes().size() - 1) {
			return NONE;
		}
		this.backups.clear();
		chosen.forEach((node, made) -> {
			node.log(() -> "is restored with all others, from a backup of %d ms before the newest"
				.formatted(newest - made.madeMillis));
			node.disk()
				.restore(made.content,
						Restored.withAllOthers(Map.of(), Map.of(), Instant.ofEpochMilli(made.madeMillis)));
		});
		return fresh.stream().mapToLong(Backup::takenAt).min().orElseThrow();
	}

	private static long mostMillis() {
		return ConvergenceSettings.MOST_AWAY.toMillis();
	}

	/**
	 * A backup of a node.
	 *
	 * @param madeMillis by the clock of the node
	 */
	private record Backup(DiskContent content, long madeMillis, long takenAt) {
	}

}
