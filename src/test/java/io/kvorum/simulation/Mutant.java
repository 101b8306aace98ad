package io.kvorum.simulation;

import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import io.kvorum.kv.Replicas;
import io.kvorum.replication.Replica;
import io.kvorum.simulation.ShortcutCoordinator.Shortcuts;
import io.kvorum.simulation.ShortcutCoordinator.WriteBack;
import io.kvorum.simulation.SimulatedDisk.Manners;

/**
 * A design with one shortcut: it loses something, or shows something wrong, at times.
 *
 * @param keepsBound whether clocks go on above the bound they had stored
 * @param atOne how many writes are acknowledged by one replica, as a probability
 */
record Mutant(String name, Function<Parts, Operations> coordinator, UnaryOperator<Replica> replica, Manners disk,
		boolean keepsBound, double atOne) implements Design {

	static List<Mutant> all() {
		return List
			.of(of("wall-clock last-write-wins, one phase", Shortcuts.wallClockOnePhase()),
					of("HLC, one phase, no write-back", Shortcuts.onePhase(WriteBack.NONE)),
					of("HLC, one phase, blocking write-back", Shortcuts.onePhase(WriteBack.WAITED_FOR)),
					of("two-phase write, no write-back", Shortcuts.twoPhase(WriteBack.NONE)),
					of("two-phase write, write-back not waited for", Shortcuts.twoPhase(WriteBack.NOT_WAITED_FOR)),
					new Mutant("a rejected write stamped again", shortcut(Shortcuts.stampAgain()),
							RejectingReplica::new, Manners.WELL, true, 0),
					of("server retry with a new version", Shortcuts.retry()), new Mutant("stores not synced",
							ProductOperations::new, UnaryOperator.identity(), Manners.NOT_SYNCED, true, 0),
					of("a hint counted as an ack", Shortcuts.countHints()),
					new Mutant("40 % of the writes at ack=1", ProductOperations::new, UnaryOperator.identity(),
							Manners.WELL, true, 0.4),
					new Mutant("a replica stores what is older", ProductOperations::new, UnaryOperator.identity(),
							Manners.NOT_COMPARED, true, 0),
					new Mutant("unreadable is absent", ProductOperations::new, ForgetfulReplica::new, Manners.WELL,
							true, 0),
					new Mutant("a clock that starts without its bound", ProductOperations::new,
							UnaryOperator.identity(), Manners.WELL, false, 0));
	}

	private static Mutant of(String name, Shortcuts shortcuts) {
		return new Mutant(name, shortcut(shortcuts), UnaryOperator.identity(), Manners.WELL, true, 0);
	}

	private static Function<Parts, Operations> shortcut(Shortcuts shortcuts) {
		return parts -> new ShortcutCoordinator(parts, shortcuts);
	}

	@Override
	public Operations operations(Parts parts) {
		return this.coordinator.apply(parts);
	}

	@Override
	public Replica replica(Replica local) {
		return this.replica.apply(local);
	}

	@Override
	public long clockBound(long storedMillis) {
		return this.keepsBound ? storedMillis : 0;
	}

	@Override
	public Replicas ofWrites(Replicas usual, Chance chance) {
		return chance.of(this.atOne) ? new Replicas(1, usual.from()) : usual;
	}

	@Override
	public String toString() {
		return this.name;
	}

}
