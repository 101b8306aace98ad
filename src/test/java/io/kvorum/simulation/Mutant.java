package io.kvorum.simulation;

import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.kvorum.clock.TimeSource;
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
 * @param knowsConditions whether clients write on conditions
 */
record Mutant(String name, Function<Parts, Operations> coordinator, UnaryOperator<Replica> replica, Manners disk,
		boolean keepsBound, double atOne, boolean knowsConditions) implements Design {

	static Stream<Mutant> all() {
		return Stream.of(
				// What a coordinator leaves out.
				of("wall-clock last-write-wins, one phase", Shortcuts.wallClockOnePhase()),
				of("HLC, one phase, no write-back", Shortcuts.onePhase(WriteBack.NONE)),
				of("HLC, one phase, blocking write-back", Shortcuts.onePhase(WriteBack.WAITED_FOR)),
				of("two-phase write, no write-back", Shortcuts.twoPhase(WriteBack.NONE)),
				of("two-phase write, write-back not waited for", Shortcuts.twoPhase(WriteBack.NOT_WAITED_FOR)),
				of("a rejected write stamped again", Shortcuts.stampAgain()).on(RejectingReplica::new),
				of("server retry with a new version", Shortcuts.retry()),
				of("a hint counted as an ack", Shortcuts.countHints()),
				// What replicas do wrong, under the coordinator of the product.
				product("stores not synced").on(Manners.NOT_SYNCED),
				product("a replica stores what is older").on(Manners.NOT_COMPARED),
				product("unreadable is absent").on(ForgetfulReplica::new),
				product("a clock goes on without its stored bound").withoutBound(),
				product("40 % of the writes at ack=1").atOne(0.4),
				new Mutant("a range goes on with too few",
						parts -> new ProductOperations(parts, parts.replicas().size()), UnaryOperator.identity(),
						Manners.WELL, true, 0, false));
	}

	/** What shows where many write one key on conditions. */
	static Stream<Mutant> conditional() {
		return Stream.of(
				// What a replica does wrong with ballots.
				product("no promises").on(Manners.NO_PROMISE),
				product("a promise is answered before it is on disk").on(Manners.PROMISE_NOT_SYNCED),
				product("a promise is forgotten when something newer is stored").on(Manners.PROMISE_WITH_ROW),
				product("stores below a promise are taken").on(Manners.STORE_BELOW),
				product("stores below a promise are acknowledged where something newer is")
					.on(Manners.STORE_SUPERSEDED),
				product("an entry is accepted below a promise").on(Manners.ACCEPT_BELOW),
				product("an accept is acknowledged wherever something newer is").on(Manners.ACCEPT_SUPERSEDED),
				product("a refused put is told to be superseded").on(BallotFlaw.PUT_CLAIMED),
				product("a read answers what it could not write back").on(BallotFlaw.READ_NOT_WRITTEN_BACK),
				product("a new ETag when proposed again").on(BallotFlaw.NEW_ETAG),
				// What a coordinator does wrong with them.
				new Mutant("the condition is judged by what a majority has", MajorityReplica::operations,
						UnaryOperator.identity(), Manners.WELL, true, 0, true),
				flawed("412 by the value of one replica", FlawedOperations.Flaw.REFUSES_BY_ONE),
				flawed("a retry does not look for its own write", FlawedOperations.Flaw.RETRIES_BLINDLY),
				flawed("a conditional write that was overwritten is claimed", FlawedOperations.Flaw.CLAIMS_OVERWRITTEN),
				flawed("a refused put is stamped again", FlawedOperations.Flaw.STAMPS_AGAIN)
					.on(BallotFlaw.REFUSAL_UNTOLD),
				// What goes wrong with repeats of the same request.
				flawed("a repeat is another write", FlawedOperations.Flaw.FORGETS_NAMES),
				flawed("a request is recorded once it is done", FlawedOperations.Flaw.RECORDS_LATE),
				flawed("a condition that does not hold is not recorded", FlawedOperations.Flaw.TELLS_UNRECORDED));
	}

	private static Mutant flawed(String name, FlawedOperations.Flaw flaw) {
		return new Mutant(name, parts -> new FlawedOperations(new ProductOperations(parts), flaw),
				UnaryOperator.identity(), Manners.WELL, true, 0, true);
	}

	private static Mutant of(String name, Shortcuts shortcuts) {
		return new Mutant(name, parts -> new ShortcutCoordinator(parts, shortcuts), UnaryOperator.identity(),
				Manners.WELL, true, 0, false);
	}

	private static Mutant product(String name) {
		return new Mutant(name, ProductOperations::new, UnaryOperator.identity(), Manners.WELL, true, 0, true);
	}

	private Mutant on(UnaryOperator<Replica> replicas) {
		return new Mutant(this.name, this.coordinator, replicas, this.disk, this.keepsBound, this.atOne,
				this.knowsConditions);
	}

	private Mutant on(BallotFlaw flaw) {
		return on(replica -> new BallotReplica(replica, flaw));
	}

	private Mutant on(Manners disks) {
		return new Mutant(this.name, this.coordinator, this.replica, disks, this.keepsBound, this.atOne,
				this.knowsConditions);
	}

	private Mutant withoutBound() {
		return new Mutant(this.name, this.coordinator, this.replica, this.disk, false, this.atOne,
				this.knowsConditions);
	}

	private Mutant atOne(double probability) {
		return new Mutant(this.name, this.coordinator, this.replica, this.disk, this.keepsBound, probability,
				this.knowsConditions);
	}

	@Override
	public Operations operations(Parts parts) {
		return this.coordinator.apply(parts);
	}

	@Override
	public Replica replica(Replica local, TimeSource time) {
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
