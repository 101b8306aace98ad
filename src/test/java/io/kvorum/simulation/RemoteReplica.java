package io.kvorum.simulation;

import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * The replica of another node, as the transport offers it: what gets no answer by its
 * deadline has one then, and may be carried out nonetheless, also much later. A message
 * that arrives twice is carried out twice and answered once.
 */
final class RemoteReplica implements Replica {

	private final SimulatedNode from;

	private final SimulatedNode to;

	private final SimulatedNetwork network;

	private final Chance chance;

	/** The other node, in the topology of the one that asks. */
	private final Member member;

	/** The layout of the node that asks, for which this replica was made. */
	private final Layout layout;

	private long awayUntil;

	RemoteReplica(SimulatedNode from, SimulatedNode to, SimulatedNetwork network, Chance chance) {
		this.from = from;
		this.to = to;
		this.member = from.memberOf(to);
		this.layout = from.layout();
		this.network = network;
		this.chance = chance;
	}

	@Override
	public Member member() {
		return this.member;
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		return call(false, deadline, (replica, limit) -> replica.read(key, limit));
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return call(false, deadline, (replica, limit) -> replica.readVersion(key, limit));
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		return call(true, deadline, (replica, limit) -> replica.store(key, entry, purpose, limit));
	}

	@Override
	public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
		return call(false, deadline, (replica, limit) -> replica.prepare(key, ballot, limit));
	}

	@Override
	public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		this.from.proposing();
		return call(true, deadline, (replica, limit) -> replica.accept(key, entry, base, limit));
	}

	@Override
	public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return call(false, deadline, (replica, remaining) -> replica.scan(range, limit, remaining));
	}

	@Override
	public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
		return call(false, deadline, (replica, remaining) -> replica.ask(query, remaining));
	}

	@Override
	public long expectedNanos() {
		return isAway() ? AWAY : this.network.usualNanos(this.from.index(), this.to.index());
	}

	@Override
	public boolean isOfSameTopology() {
		return this.to.told().number() == this.layout.number()
				&& this.to.told().topology().fingerprint() == this.layout.topology().fingerprint();
	}

	@Override
	public boolean isBehind() {
		return this.to.told().number() < this.layout.number();
	}

	private boolean isAway() {
		return this.from.now() < this.awayUntil || this.to.isSilent();
	}

	private Mono<Reply> call(boolean store, Deadline deadline, BiFunction<Replica, Deadline, Mono<Reply>> what) {
		return Mono.create(sink -> {
			long remaining = deadline.remainingNanos(this.from.time());
			if (remaining <= 0) {
				sink.success(Failed.notDone(Reason.TIMEOUT, "too late"));
			}
			else if (isAway()) {
				sink.success(Failed.notDone(Reason.AWAY, "away"));
			}
			else {
				new Call(sink, store, remaining, what).send();
			}
		});
	}

	private final class Call {

		private final MonoSink<Reply> sink;

		private final boolean store;

		private final long remaining;

		private final BiFunction<Replica, Deadline, Mono<Reply>> what;

		/** Until the node that sent it crashes. */
		private final BooleanSupplier isAwaited = RemoteReplica.this.from.life();

		/** What the node that asks said of its layout when this was sent. */
		private final Layout told = RemoteReplica.this.from.toldTo(RemoteReplica.this.to);

		/** The topology that the other node had started with when this was sent. */
		private final long startedWith = RemoteReplica.this.to.startedWith().fingerprint();

		private boolean answered;

		Call(MonoSink<Reply> sink, boolean store, long remaining, BiFunction<Replica, Deadline, Mono<Reply>> what) {
			this.sink = sink;
			this.store = store;
			this.remaining = remaining;
			this.what = what;
		}

		void send() {
			RemoteReplica.this.from.after(this.remaining,
					() -> fail(new Failed(Reason.TIMEOUT, "no answer", this.store, true)));
			if (this.store) {
				RemoteReplica.this.from.mayDie();
			}
			if (this.store && RemoteReplica.this.from.isCutOffFrom(RemoteReplica.this.to.index())) {
				disconnect();
			}
			else if (!RemoteReplica.this.from.isDying()) {
				RemoteReplica.this.network.send(RemoteReplica.this.from.index(), RemoteReplica.this.to.index(),
						this::arrive);
			}
		}

		/** Loses the connection: the message is lost, too, or arrives much later. */
		private void disconnect() {
			RemoteReplica.this.from.after(RemoteReplica.this.chance.nanos(1, 20),
					() -> receive(Failed.unknown(Reason.DISCONNECTED, "connection lost")));
			if (RemoteReplica.this.chance.of(0.5)) {
				RemoteReplica.this.network.sendLate(() -> arrive(false));
			}
		}

		private void arrive(boolean firstTime) {
			SimulatedNode node = RemoteReplica.this.to;
			Replica replica = node.replica();
			boolean isRestarted = node.startedWith().fingerprint() != this.startedWith;
			if (replica != null && (isRestarted || !node.takesFrom(RemoteReplica.this.from, this.told))) {
				if (firstTime) {
					answer(Failed.notDone(Reason.REFUSED, "another topology"));
				}
			}
			else if (replica != null) {
				Deadline deadline = new Deadline(node.time().nanos() + this.remaining);
				this.what.apply(replica, deadline).subscribe(reply -> {
					// A node that is refused meanwhile has lost its streams.
					if (firstTime && node.takesFrom(RemoteReplica.this.from, this.told)) {
						answer(reply);
					}
				}, node::fail);
			}
			else if (firstTime && RemoteReplica.this.chance.of(0.5)) {
				answer(Failed.notDone(Reason.UNAVAILABLE, "connection refused"));
			}
		}

		private void answer(Reply reply) {
			RemoteReplica.this.network.send(RemoteReplica.this.to.index(), RemoteReplica.this.from.index(), _ -> {
				if (this.isAwaited.getAsBoolean()) {
					receive(reply);
				}
			});
		}

		private void receive(Reply reply) {
			if (reply instanceof Failed failed && failed.reason() == Reason.UNAVAILABLE) {
				fail(failed);
			}
			else if (!this.answered) {
				this.answered = true;
				this.sink.success(reply);
			}
		}

		private void fail(Failed reply) {
			if (!this.answered) {
				this.answered = true;
				if (RemoteReplica.this.chance.of(0.5)) {
					RemoteReplica.this.awayUntil = RemoteReplica.this.from.now()
							+ RemoteReplica.this.chance.nanos(5, 200);
				}
				this.sink.success(reply);
			}
		}

	}

}
