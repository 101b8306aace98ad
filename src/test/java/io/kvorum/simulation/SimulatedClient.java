package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.simulation.Habits.Intent;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Sends operations, one after the other, to any node, and notes what it was told. It may
 * lose patience: then the operation it gave up goes on beside the next one.
 */
final class SimulatedClient {

	/** How much later than its deadline an operation may end. */
	private static final long SLACK_NANOS = 200_000_000;

	private final String name;

	private final SimulatedCluster cluster;

	private final Chance chance;

	private final Numbers numbers;

	private final Habits habits;

	private final Map<Key, List<Operation>> histories;

	SimulatedClient(String name, SimulatedCluster cluster, Chance chance, Numbers numbers, Habits habits,
			Map<Key, List<Operation>> histories) {
		this.name = name;
		this.cluster = cluster;
		this.chance = chance;
		this.numbers = numbers;
		this.habits = habits;
		this.histories = histories;
	}

	/** Sends that many operations on any of the keys. */
	void work(int operations, List<Key> keys, Runnable done) {
		if (operations == 0) {
			done.run();
			return;
		}
		this.cluster.timeline().after(this.chance.of(0.3) ? 0 : this.chance.nanos(0.1, 20), () -> {
			Key key = keys.get(this.chance.below(keys.size()));
			send(next(key), key, this.cluster.nodes().get(this.chance.below(this.cluster.nodes().size())),
					patienceNanos(), _ -> work(operations - 1, keys, done));
		});
	}

	private long patienceNanos() {
		return (!this.cluster.scenario().isCalm() && this.chance.of(0.2)) ? this.chance.nanos(1, 50) : Long.MAX_VALUE;
	}

	private Intent next(Key key) {
		Intent unusual = this.habits.next(key, this.chance);
		if (unusual != null) {
			return unusual;
		}
		int dice = this.chance.below(100);
		return Intent.to((dice < 45) ? Kind.GET : (dice < 88) ? Kind.PUT : Kind.DELETE);
	}

	/**
	 * Sends one operation.
	 * @param patienceNanos how long the client waits
	 * @param then told how it ended
	 */
	void send(Intent intent, Key key, SimulatedNode node, long patienceNanos, Consumer<Outcome> then) {
		Operations operations = node.operations();
		if (operations == null) {
			then.accept(Outcome.NOT_APPLIED);
			return;
		}
		Sent sent = new Sent(intent, key, asked(intent, key),
				(intent.kind() == Kind.PUT) ? this.numbers.next() : Operation.ABSENT, node, then);
		sent.send(operations, patienceNanos);
	}

	/** At times all replicas; at times a read asks one, and is no part of the history. */
	private Replicas asked(Intent intent, Key key) {
		Kind kind = intent.kind();
		Replicas usual = this.cluster.scenario().replicas();
		Replicas unusual = this.habits.asked(key, this.chance);
		if (unusual != null) {
			return unusual;
		}
		int dice = this.cluster.scenario().isCalm() ? 100 : this.chance.below(100);
		Replicas asked = (dice < 5) ? new Replicas(usual.from(), usual.from())
				: (dice < 10 && kind == Kind.GET) ? new Replicas(1, usual.from()) : usual;
		return (kind == Kind.GET || intent.condition() != null) ? asked
				: this.cluster.design().ofWrites(asked, this.chance);
	}

	private final class Sent {

		private final Intent intent;

		private final Kind kind;

		private final Key key;

		private final Replicas asked;

		private final int value;

		private final SimulatedNode node;

		private final Consumer<Outcome> then;

		private final @Nullable Ttl ttl;

		private @Nullable Version etag;

		private final long invokedAt = SimulatedClient.this.cluster.timeline().now();

		private final Runnable atCrash = this::disconnected;

		private int found = Operation.ABSENT;

		/** The client has its answer, or has given up. */
		private boolean ended;

		/** The node has answered. */
		private boolean answered;

		Sent(Intent intent, Key key, Replicas asked, int value, SimulatedNode node, Consumer<Outcome> then) {
			this.intent = intent;
			this.kind = intent.kind();
			this.key = key;
			this.asked = asked;
			this.value = value;
			this.node = node;
			this.then = then;
			this.ttl = (kind == Kind.PUT) ? SimulatedClient.this.habits.ttl(key, SimulatedClient.this.chance) : null;
		}

		void send(Operations operations, long patienceNanos) {
			log("");
			this.node.atCrash(this.atCrash);
			if (patienceNanos != Long.MAX_VALUE) {
				SimulatedClient.this.cluster.timeline().after(patienceNanos, () -> end(Outcome.UNKNOWN, "gave up"));
			}
			this.node.after(limitNanos(), this::checkAnswered);
			operation(operations).subscribe(found -> {
				if (found instanceof Live live) {
					this.found = Values.number(live);
					this.etag = live.identity();
				}
				else {
					this.etag = (Version) found;
				}
			}, this::failed, () -> {
				this.answered = true;
				end(Outcome.DONE, "ok");
			});
		}

		private Mono<?> operation(Operations operations) {
			return switch (this.kind) {
				case GET -> operations.get(this.key, this.asked);
				case PUT -> operations.put(this.key, this.asked, this.intent.toCondition(), this.value, this.ttl);
				case DELETE -> operations.delete(this.key, this.asked, this.intent.toCondition());
			};
		}

		private long limitNanos() {
			long timeout = (this.kind == Kind.GET) ? ProductOperations.READ_TIMEOUT.toNanos()
					: ProductOperations.WRITE_TIMEOUT.toNanos();
			long disk = SimulatedClient.this.cluster.scenario().diskHangs() ? SimulatedDisk.WRITE_LIMIT_NANOS : 0;
			return timeout + disk + SLACK_NANOS;
		}

		private void disconnected() {
			end(Outcome.UNKNOWN, "connection lost");
		}

		private void checkAnswered() {
			if (!this.answered) {
				SimulatedClient.this.cluster
					.fail("%s's %s of %s, invoked at %.3f ms, has no answer long after its deadline"
						.formatted(SimulatedClient.this.name, this.kind, this.value, this.invokedAt / 1e6));
			}
		}

		private void failed(Throwable error) {
			this.answered = true;
			switch (error) {
				case ConditionNotMetException ex -> {
					this.etag = ex.current();
					end(Outcome.NOT_MET, "not met");
				}
				case OperationFailedException ex ->
					end((this.kind == Kind.GET || ex.mayHaveHappened()) ? Outcome.UNKNOWN : Outcome.NOT_APPLIED,
							ex.kind() + " " + ex.getMessage());
				case ShortcutCoordinator.NotReachedException ex ->
					end((this.kind == Kind.GET || ex.mayHaveHappened()) ? Outcome.UNKNOWN : Outcome.NOT_APPLIED,
							"not reached");
				default -> this.node.fail(error);
			}
		}

		private void end(Outcome outcome, String why) {
			if (this.ended) {
				return;
			}
			this.ended = true;
			this.node.notAtCrash(this.atCrash);
			if (outcome == Outcome.NOT_MET && this.etag != null) {
				Integer named = SimulatedClient.this.cluster.valueOf(this.etag);
				if (named == null) {
					SimulatedClient.this.cluster.fail("an ETag that no value has: " + Values.text(this.etag));
				}
				else {
					this.found = named;
				}
			}
			int seen = (this.kind == Kind.GET) ? this.found : this.value;
			log(" -> %s %s%s".formatted(outcome,
					(this.kind == Kind.GET || outcome == Outcome.NOT_MET) ? this.found + " " : "", why));
			if (this.kind != Kind.GET || this.asked.isMajority()) {
				Operation operation = operation(seen, outcome);
				SimulatedClient.this.histories.computeIfAbsent(this.key, _ -> new ArrayList<>()).add(operation);
				checkEtag(operation);
				SimulatedClient.this.habits.told(this.key, operation, this.etag, this.ttl);
			}
			if (outcome != Outcome.DONE && !SimulatedClient.this.habits.writesOnConditions()
					&& SimulatedClient.this.cluster.isWellServed(this.node)) {
				SimulatedClient.this.cluster.fail("nothing is in its way, and this did not succeed: %s's %s at %.3f ms"
					.formatted(SimulatedClient.this.name, this.kind, this.invokedAt / 1e6));
			}
			this.then.accept(outcome);
		}

		private Operation operation(int seen, Outcome outcome) {
			Operation operation = new Operation(SimulatedClient.this.name + " n" + this.node.index(), this.kind, seen,
					(outcome == Outcome.NOT_MET) ? Outcome.DONE : outcome, this.invokedAt,
					SimulatedClient.this.cluster.timeline().now())
				.provided(this.intent.condition());
			return (outcome == Outcome.NOT_MET) ? operation.unmet(this.found) : operation;
		}

		private void checkEtag(Operation operation) {
			if (this.etag != null && !this.etag.equals(Version.ABSENT) && operation.outcome() == Outcome.DONE
					&& operation.value() != Operation.ABSENT) {
				SimulatedClient.this.cluster.has(operation.value(), this.etag);
			}
		}

		private void log(String end) {
			SimulatedClient.this.cluster.log()
				.add(() -> "%s at n%d: %s %s k%d%s%s%s".formatted(SimulatedClient.this.name, this.node.index(),
						this.intent, this.asked, this.key.bytes()[0],
						(this.value != Operation.ABSENT) ? " " + this.value : "",
						(this.ttl != null) ? " for " + this.ttl.duration().toSeconds() + " s" : "", end));
		}

	}

	/** Gives each put a value of its own. */
	static final class Numbers {

		private int last;

		int next() {
			return ++this.last;
		}

	}

}
