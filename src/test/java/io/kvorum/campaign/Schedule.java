package io.kvorum.campaign;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Phases of episodes of faults, the same for the same seed. Faults of an episode overlap;
 * episodes do not. Between phases all is healed and compared.
 * <p>
 * The first phase is short and has what has found most flaws; the others are drawn. Each
 * ends with a cut of nodes that had converged: hints alone make good what a node misses
 * then, since none has started lately and compares itself with the others.
 */
final class Schedule {

	private static final int[] CLOCK_JUMPS = { 100, 400, 2_000, 20_000, Rules.MAX_CLOCK_MILLIS };

	private static final List<Fault> BAG = Stream.of(Fault.values())
		.flatMap(fault -> IntStream.range(0, fault.weight).mapToObj(_ -> fault))
		.toList();

	/** So long a process takes to start, about. */
	private static final int START_MILLIS = 6_000;

	private static final int EPISODES_A_PHASE = 8;

	private final SplittableRandom random;

	private final int nodes;

	/** What was not drawn yet: each fault comes as often as its weight says. */
	private final List<Fault> bag = new ArrayList<>();

	Schedule(long seed, int nodes) {
		this.random = new SplittableRandom(seed);
		this.nodes = nodes;
	}

	List<List<Injection>> firstPhase() {
		return List.of(episode(Fault.POWER_LOSS_ALL), surrounded(Fault.POWER_LOSS), surrounded(Fault.DISK_LOST),
				lastEpisode());
	}

	List<List<Injection>> nextPhase() {
		List<List<Injection>> phase = new ArrayList<>();
		while (phase.size() < EPISODES_A_PHASE - 1) {
			Fault fault = draw();
			phase.add((fault.triesDisk() && this.random.nextInt(3) > 0) ? surrounded(fault) : episode(fault));
		}
		phase.add(lastEpisode());
		return phase;
	}

	private List<Injection> lastEpisode() {
		return List.of(injection(Fault.CUT, node(), 0, this.random.nextInt(4_000, 8_000)));
	}

	private List<Injection> episode(Fault first) {
		List<Injection> episode = new ArrayList<>();
		add(first, episode);
		for (int chance = this.random.nextInt(4); chance > 1; chance--) {
			add(draw(), episode);
		}
		return episode;
	}

	private Fault draw() {
		if (this.bag.isEmpty()) {
			this.bag.addAll(BAG);
		}
		return this.bag.remove(this.random.nextInt(this.bag.size()));
	}

	/** Adds a fault unless a rule is against it; the first one has none beside it. */
	private void add(Fault fault, List<Injection> episode) {
		int from = episode.isEmpty() ? 0 : this.random.nextInt(6_000);
		Injection next = injection(fault, node(), from, from + this.random.nextInt(1_000, 8_000));
		if (Rules.whyNot(next, episode) == null) {
			episode.add(next);
		}
	}

	/**
	 * What shows best whether a node still has what it acknowledged: another replica
	 * misses writes before, and all others that have them are cut off when it is back.
	 */
	private List<Injection> surrounded(Fault fault) {
		int tried = this.random.nextInt(this.nodes);
		int behind = (tried + this.random.nextInt(1, this.nodes)) % this.nodes;
		int away = tried;
		while (away == tried || away == behind) {
			away = this.random.nextInt(this.nodes);
		}
		int misses = this.random.nextInt(2_000, 5_000);
		Fault before = this.random.nextBoolean() ? Fault.CUT : Fault.PAUSE;
		Fault after = (this.random.nextInt(3) > 0) ? Fault.CUT : Fault.PAUSE;
		return List.of(injection(before, behind + 1, 0, misses),
				injection(fault, tried + 1, misses - 300, misses + START_MILLIS),
				new Injection(after, away + 1, misses - 100, this.random.nextInt(1_000, 5_000), 0, true));
	}

	private Injection injection(Fault fault, int node, int from, int to) {
		int amount = switch (fault) {
			case LOSS -> this.random.nextInt(2, 40);
			case DELAY -> this.random.nextInt(10, 400);
			case CLOCK_JUMP -> CLOCK_JUMPS[this.random.nextInt(CLOCK_JUMPS.length)] * sign();
			case CLOCK_DRIFT -> this.random.nextInt(1, 100) * sign();
			case DISK_SLOW -> this.random.nextInt(20, 600);
			case RESTARTS -> this.random.nextInt(2, 5);
			// Where a bit is flipped, in thousandths of the file.
			case FLIP_IN_TABLE, FLIP_IN_LOG -> this.random.nextInt(1_000);
			default -> 0;
		};
		return new Injection(fault, fault.isOfAllNodes() ? 0 : node, from, to, amount, false);
	}

	private int node() {
		return this.random.nextInt(1, this.nodes + 1);
	}

	private int sign() {
		return this.random.nextBoolean() ? 1 : -1;
	}

}
