package io.kvorum.convergence.antientropy;

import java.util.Collection;
import java.util.List;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.replication.Answered;
import io.kvorum.replication.KeySettling;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import io.kvorum.storage.PromiseLog;
import io.kvorum.storage.PromiseRecord;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Gives a replica that may have lost promises those of the other members. It keeps them
 * as if they were its own: the proposer of an older ballot then learns that it has lost.
 */
public final class PromiseRepair {

	/** The most promises in an answer. */
	static final int PAGE = 1024;

	private final Replica local;

	/** The replicas on all members, by the index of the member. */
	private final List<? extends Replica> replicas;

	private final PromiseLog log;

	private final RendezvousPlacement placement;

	private final KeySettling settling;

	private final TimeSource time;

	private final RepairSettings settings;

	/**
	 * The repair of a node.
	 * @param replicas the replicas on all members, by the index of the member
	 */
	public PromiseRepair(Replica local, List<? extends Replica> replicas, PromiseLog log, RendezvousPlacement placement,
			KeySettling settling, TimeSource time, RepairSettings settings) {
		this.local = local;
		this.replicas = List.copyOf(replicas);
		this.log = log;
		this.placement = placement;
		this.settling = settling;
		this.time = time;
		this.settings = settings;
	}

	/**
	 * Copies the promises of these members. To be called when this replica has their
	 * entries: it stores none below a promise. Fails if one of them does not answer.
	 * @param settles whether keys are settled whose promise stands above the entry here.
	 * It takes a majority of their replicas.
	 */
	public Mono<Void> copy(Collection<Member> from, boolean settles) {
		return Flux.fromIterable(from)
			.map(member -> this.replicas.get(member.index()))
			.filter(Replica::knowsBallots)
			.concatMap(this::copy, 1)
			.then(settles ? Mono.defer(this::settle) : Mono.empty());
	}

	private Mono<Void> copy(Replica peer) {
		return Mono.defer(() -> new Copying(peer).run());
	}

	private boolean isReplica(Key key) {
		int factor = this.placement.copiesOf(Copies.DEFAULT);
		return this.placement.rankOf(RendezvousPlacement.partitionOf(key), this.local.member()) < factor;
	}

	private Mono<Void> settle() {
		return Mono.defer(() -> new Settling().run());
	}

	/**
	 * Brings the entry of a key above its promise. A promise tells that a write may be
	 * under way, or may have ended on replicas that this one has lost sight of.
	 */
	private Mono<Void> settle(PromiseRecord promise) {
		return this.local.readVersion(promise.key(), deadline())
			.filter(reply -> !(reply instanceof Held held) || promise.ballot().isNewerThan(held.version()))
			.flatMap(_ -> this.settling.settle(promise.key(), promise.ballot())
				.switchIfEmpty(Mono.error(() -> RepairFailedException.unsettled())))
			.flatMap(held -> keep(promise.key(), held));
	}

	private Mono<Void> keep(Key key, Held held) {
		if (held.entry() == null) {
			return Mono.empty();
		}
		return this.local.store(key, held.entry(), Purpose.REPAIR, deadline())
			.flatMap(reply -> (reply instanceof Reply.Failed)
					? Mono.error(RepairFailedException.of(this.local.member(), reply)) : Mono.empty());
	}

	private Deadline deadline() {
		return Deadline.after(this.time, this.settings.timeout());
	}

	/** All promises of one member, page by page. */
	private final class Copying {

		private final Replica peer;

		private @Nullable Key last;

		private boolean ended;

		Copying(Replica peer) {
			this.peer = peer;
		}

		Mono<Void> run() {
			return Mono.defer(this::page).repeat(() -> !this.ended).then();
		}

		private Mono<Void> page() {
			return this.peer.ask(Messages.promises(this.last), deadline()).flatMap(reply -> {
				if (!(reply instanceof Answered answered)) {
					return Mono.error(RepairFailedException.of(this.peer.member(), reply));
				}
				List<PromiseRecord> promises = Messages.readPromises(answered.bytes());
				this.ended = promises.isEmpty();
				this.last = this.ended ? null : promises.getLast().key();
				return Flux.fromIterable(promises)
					.filter(promise -> isReplica(promise.key()))
					.concatMap(promise -> PromiseRepair.this.log.keep(promise.key(), promise.ballot()))
					.then();
			});
		}

	}

	/** All promises of this store, page by page. */
	private final class Settling {

		private @Nullable Key last;

		private boolean ended;

		Mono<Void> run() {
			return Mono.defer(this::page).repeat(() -> !this.ended).then();
		}

		private Mono<Void> page() {
			return PromiseRepair.this.log.promises(this.last, PAGE, deadline()).flatMap(promises -> {
				this.ended = promises.isEmpty();
				this.last = this.ended ? null : promises.getLast().key();
				return Flux.fromIterable(promises).concatMap(PromiseRepair.this::settle).then();
			});
		}

	}

}
