package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.WriteOptions;
import io.kvorum.simulation.Habits.Intent;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * Sends operations, one after the other, to any node, and notes what it was told. It may
 * lose patience: then the operation it gave up goes on beside the next one, or is
 * cancelled where the node notices that.
 */
final class SimulatedClient {

	/** How much later than its deadline an operation may end. */
	private static final long SLACK_NANOS = 200_000_000;

	private final String name;

	private final SimulatedCluster cluster;

	private final Chance chance;

	private final RepeatedRequests repeats;

	private final Numbers numbers;

	private final Habits habits;

	private final Map<Key, List<Operation>> histories;

	SimulatedClient(String name, SimulatedCluster cluster, Chance chance, RepeatedRequests repeats, Numbers numbers,
			Habits habits, Map<Key, List<Operation>> histories) {
		this.name = name;
		this.cluster = cluster;
		this.chance = chance;
		this.repeats = repeats;
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
		Sent sent = new Sent(intent, key, asked(intent, key, operations.defaults()),
				(intent.kind() == Kind.PUT) ? this.numbers.next() : Operation.ABSENT, node, then);
		sent.send(operations, patienceNanos);
	}

	/**
	 * At times all replicas, of which the default counts; at times a read asks one, and
	 * is no part of the history.
	 */
	private Replicas asked(Intent intent, Key key, Replicas usual) {
		Kind kind = intent.kind();
		Replicas unusual = this.habits.asked(key, this.chance);
		if (unusual != null) {
			return unusual;
		}
		int dice = this.cluster.scenario().isCalm() ? 100 : this.chance.below(100);
		Replicas asked = (dice < 5) ? new Replicas(usual.from(), usual.from(), usual.copies())
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

		private final SimulatedNode first;

		private final Consumer<Outcome> then;

		private final @Nullable Ttl ttl;

		/** The name of a write that is repeated until it is answered; null for none. */
		private final @Nullable IdempotencyKey idempotencyKey;

		private @Nullable Version etag;

		private final long invokedAt = SimulatedClient.this.cluster.timeline().now();

		private int found = Operation.ABSENT;

		/** The client has its answer, or has given up. */
		private boolean ended;

		/** Whether some request may have done it. */
		private boolean mayHaveHappened;

		private int requests;

		/** The outcome of a write that is repeated though it was answered. */
		private @Nullable Outcome outcome;

		private final Runnable whenOpenAtTheEnd = this::noteOpen;

		Sent(Intent intent, Key key, Replicas asked, int value, SimulatedNode node, Consumer<Outcome> then) {
			this.intent = intent;
			this.kind = intent.kind();
			this.key = key;
			this.asked = asked;
			this.value = value;
			this.first = node;
			this.then = then;
			this.ttl = (kind == Kind.PUT) ? SimulatedClient.this.habits.ttl(key, SimulatedClient.this.chance) : null;
			this.idempotencyKey = (kind != Kind.GET)
					? SimulatedClient.this.repeats.name(SimulatedClient.this.name, value, this.invokedAt) : null;
		}

		void send(Operations operations, long patienceNanos) {
			log(this.first, "");
			SimulatedClient.this.cluster.opens(this.whenOpenAtTheEnd);
			request(this.first, operations, patienceNanos);
		}

		private void request(SimulatedNode node, Operations operations, long patienceNanos) {
			this.requests++;
			new Request(node, patienceNanos).send(operation(operations));
		}

		/** Sends it to another node, later. */
		private void repeat(long pauseNanos) {
			SimulatedClient.this.cluster.timeline().after(pauseNanos, () -> {
				List<SimulatedNode> nodes = SimulatedClient.this.cluster.nodes();
				SimulatedNode node = nodes.get((this.first.index() + this.requests) % nodes.size());
				Operations operations = node.operations();
				if (operations == null) {
					this.requests++;
					answered(node, Outcome.NOT_APPLIED, "down", null);
				}
				else {
					request(node, operations, SimulatedClient.this.repeats.pauseNanos());
				}
			});
		}

		private Mono<?> operation(Operations operations) {
			return switch (this.kind) {
				case GET -> operations.get(this.key, this.asked);
				case PUT -> operations.put(this.key, options(), this.value, this.ttl);
				case DELETE -> operations.delete(this.key, options());
			};
		}

		private WriteOptions options() {
			return new WriteOptions(this.asked, this.intent.toCondition(), this.idempotencyKey, null);
		}

		/** A request has ended, the first one or a repeat. */
		private void answered(SimulatedNode node, Outcome outcome, String why, @Nullable Version etag) {
			boolean isKnown = outcome == Outcome.DONE || outcome == Outcome.NOT_MET;
			if (this.ended) {
				checkSame(isKnown, outcome, etag);
				return;
			}
			this.mayHaveHappened |= outcome == Outcome.UNKNOWN;
			if (this.idempotencyKey != null && !isKnown && this.requests < RepeatedRequests.MOST) {
				log(node, " -> " + outcome + " " + why + ", to be repeated");
				repeat(SimulatedClient.this.repeats.pauseNanos());
				return;
			}
			this.etag = etag;
			end(node, (!isKnown && this.mayHaveHappened) ? Outcome.UNKNOWN : outcome, why);
			if (this.idempotencyKey != null && isKnown && SimulatedClient.this.repeats.isRepeatedLate()) {
				this.outcome = outcome;
				repeat(SimulatedClient.this.repeats.latePauseNanos());
			}
		}

		private void checkSame(boolean isKnown, Outcome again, @Nullable Version etag) {
			log(this.first, " -> again " + again);
			if (this.outcome != null && isKnown
					&& (again != this.outcome || (!Objects.equals(etag, this.etag) && !Version.ABSENT.equals(etag)))) {
				SimulatedClient.this.cluster.fail("%s: %s, %s and then %s".formatted(SimulatedCluster.TWO_OUTCOMES,
						this.value, this.outcome, again));
			}
		}

		private long limitNanos() {
			long timeout = (this.kind == Kind.GET) ? ProductOperations.READ_TIMEOUT.toNanos()
					: SimulatedClient.this.cluster.longestWrite().toNanos();
			long disk = SimulatedClient.this.cluster.scenario().diskHangs() ? SimulatedDisk.WRITE_LIMIT_NANOS : 0;
			return timeout + disk + SLACK_NANOS;
		}

		private void end(SimulatedNode node, Outcome outcome, String why) {
			this.ended = true;
			SimulatedClient.this.cluster.closes(this.whenOpenAtTheEnd);
			if (outcome == Outcome.NOT_MET && this.etag != null) {
				Integer named = SimulatedClient.this.cluster.valueOf(this.etag);
				if (named == null) {
					SimulatedClient.this.cluster.fail("an ETag that no value has: " + Values.text(this.etag));
				}
				else {
					this.found = named;
				}
			}
			log(node, " -> %s %s%s".formatted(outcome,
					(this.kind == Kind.GET || outcome == Outcome.NOT_MET) ? this.found + " " : "", why));
			note(outcome);
			if (outcome != Outcome.DONE && this.requests == 1 && !SimulatedClient.this.habits.writesOnConditions()
					&& SimulatedClient.this.cluster.isWellServed(node)) {
				SimulatedClient.this.cluster.fail("nothing is in its way, and this did not succeed: %s's %s at %.3f ms"
					.formatted(SimulatedClient.this.name, this.kind, this.invokedAt / 1e6));
			}
			this.then.accept(outcome);
		}

		private void noteOpen() {
			note(Outcome.UNKNOWN);
		}

		private void note(Outcome outcome) {
			if (this.kind != Kind.GET || this.asked.isMajority()) {
				Operation operation = operation((this.kind == Kind.GET) ? this.found : this.value, outcome);
				SimulatedClient.this.histories.computeIfAbsent(this.key, _ -> new ArrayList<>()).add(operation);
				checkEtag(operation);
				SimulatedClient.this.habits.told(this.key, operation, this.etag, this.ttl);
			}
		}

		private Operation operation(int seen, Outcome outcome) {
			Operation operation = new Operation(SimulatedClient.this.name + " n" + this.first.index(), this.kind, seen,
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

		private void log(SimulatedNode node, String end) {
			SimulatedClient.this.cluster.log()
				.add(() -> "%s at n%d: %s %s k%d%s%s%s".formatted(SimulatedClient.this.name, node.index(), this.intent,
						this.asked, this.key.bytes()[0], (this.value != Operation.ABSENT) ? " " + this.value : "",
						(this.ttl != null) ? " for " + this.ttl.duration().toSeconds() + " s" : "", end));
		}

		/** One request of it, to one node. */
		private final class Request {

			private final SimulatedNode node;

			private final Runnable atCrash = this::disconnected;

			private final Disposable.Swap subscription = Disposables.swap();

			private @Nullable Version etag;

			/** The node has answered, or need not. */
			private boolean answered;

			/** The client has an answer, or waits no more. */
			private boolean over;

			Request(SimulatedNode node, long patienceNanos) {
				this.node = node;
				node.atCrash(this.atCrash);
				if (patienceNanos != Long.MAX_VALUE) {
					SimulatedClient.this.cluster.timeline().after(patienceNanos, () -> giveUp(patienceNanos % 4 != 0));
				}
				node.after(limitNanos(), this::checkAnswered);
			}

			void send(Mono<?> operation) {
				this.subscription.replace(operation.subscribe(this::found, this::failed, this::completed));
			}

			/**
			 * Waits no more.
			 * @param closes whether the node notices that: the connection is closed
			 */
			private void giveUp(boolean closes) {
				if (closes && !this.over) {
					this.answered = true;
					this.subscription.dispose();
				}
				answer(Outcome.UNKNOWN, closes ? "gave up, and closed" : "gave up");
			}

			private void disconnected() {
				answer(Outcome.UNKNOWN, "connection lost");
			}

			private void found(Object found) {
				if (found instanceof Live live) {
					Sent.this.found = Values.number(live);
					this.etag = live.identity();
				}
				else {
					this.etag = (Version) found;
				}
			}

			private void completed() {
				this.answered = true;
				answer(Outcome.DONE, "ok");
			}

			private void failed(Throwable error) {
				this.answered = true;
				switch (error) {
					case ConditionNotMetException ex -> {
						this.etag = ex.current();
						answer(Outcome.NOT_MET, "not met");
					}
					case OperationFailedException ex ->
						answer(outcomeOf(ex.mayHaveHappened()), ex.kind() + " " + ex.getMessage());
					case ShortcutCoordinator.NotReachedException ex ->
						answer(outcomeOf(ex.mayHaveHappened()), "not reached");
					default -> this.node.fail(error);
				}
			}

			private Outcome outcomeOf(boolean mayHaveHappened) {
				return (Sent.this.kind == Kind.GET || mayHaveHappened) ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
			}

			private void checkAnswered() {
				if (!this.answered) {
					SimulatedClient.this.cluster
						.fail("%s's %s of %s, invoked at %.3f ms, has no answer long after its deadline".formatted(
								SimulatedClient.this.name, Sent.this.kind, Sent.this.value, Sent.this.invokedAt / 1e6));
				}
			}

			private void answer(Outcome outcome, String why) {
				if (!this.over) {
					this.over = true;
					this.node.notAtCrash(this.atCrash);
					Sent.this.answered(this.node, outcome, why, this.etag);
				}
			}

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
