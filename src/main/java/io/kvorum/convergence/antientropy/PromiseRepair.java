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
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.replication.Answered;
import io.kvorum.replication.KeySettling;
import io.kvorum.replication.PromiseCopying;
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
public final class PromiseRepair implements PromiseCopying {

	/** The promises of a peer that are stored at a time: they share syncs. */
	private static final int KEPT_AT_ONCE = 256;

	private static final int SETTLED_AT_ONCE = 16;

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

	@Override
	public Mono<Void> copy(Collection<Member> from, boolean settles) {
		return Flux.fromIterable(from)
			.map(member -> this.replicas.get(member.index()))
			.filter(Replica::knowsBallots)
			.concatMap(this::copy, 1)
			.then(settles ? Mono.defer(this::settle) : Mono.empty());
	}

	private Mono<Void> copy(Replica peer) {
		return page(peer, null).expand(page -> page.isEmpty() ? Mono.empty() : page(peer, page.getLast().key()))
			.concatMap(this::keep, 1)
			.then();
	}

	private Mono<List<PromiseRecord>> page(Replica peer, @Nullable Key after) {
		return peer.ask(Messages.promises(after), deadline()).map(reply -> {
			if (!(reply instanceof Answered answered)) {
				throw RepairFailedException.of(peer.member(), reply);
			}
			try {
				return Messages.readPromises(answered.bytes());
			}
			catch (RuntimeException ex) {
				throw RepairFailedException.of(peer.member(), ex);
			}
		});
	}

	private Mono<Void> keep(List<PromiseRecord> promises) {
		return Flux.fromIterable(promises)
			.filter(promise -> isReplica(promise.key()))
			.flatMap(promise -> this.log.keep(promise.key(), promise.ballot()), KEPT_AT_ONCE)
			.then();
	}

	private boolean isReplica(Key key) {
		int factor = this.placement.copiesOf(Copies.DEFAULT);
		return this.placement.rankOf(RendezvousPlacement.partitionOf(key), this.local.member()) < factor;
	}

	private Mono<Void> settle() {
		return this.log.all(null, this.time, this.settings.timeout()).flatMap(this::settle, SETTLED_AT_ONCE).then();
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
			.flatMap(reply -> (reply instanceof Failed)
					? Mono.error(RepairFailedException.of(this.local.member(), reply)) : Mono.empty());
	}

	private Deadline deadline() {
		return Deadline.after(this.time, this.settings.timeout());
	}

}
