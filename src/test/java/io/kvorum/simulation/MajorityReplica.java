package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Replica;
import io.kvorum.testing.ForwardedReplica;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A replica that answers a ballot with what a majority of promises has at least, and not
 * with what it holds.
 */
final class MajorityReplica extends ForwardedReplica {

	private final Parts parts;

	/** The answer of each ballot, of all replicas of a coordinator. */
	private final Map<Version, Mono<Reply>> ballots;

	private MajorityReplica(Replica replica, Parts parts, Map<Version, Mono<Reply>> ballots) {
		super(replica);
		this.parts = parts;
		this.ballots = ballots;
	}

	static Operations operations(Parts parts) {
		Map<Version, Mono<Reply>> ballots = new HashMap<>();
		List<Replica> replicas = parts.replicas()
			.stream()
			.<Replica>map(replica -> new MajorityReplica(replica, parts, ballots))
			.toList();
		return new ProductOperations(new Parts(parts.node(), parts.placement(), replicas, parts.clock(), parts.policy(),
				parts.missedStores(), parts.chance()));
	}

	@Override
	public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
		return this.ballots.computeIfAbsent(ballot, _ -> prepareAll(key, ballot, deadline).cache());
	}

	private Mono<Reply> prepareAll(Key key, Version ballot, Deadline deadline) {
		int factor = this.parts.policy().factor();
		List<Reply> failed = new ArrayList<>();
		return Flux.fromIterable(this.parts.placement().replicasOf(key, factor))
			.map(member -> this.parts.replicas().get(member.index()))
			.map(replica -> (replica instanceof MajorityReplica majority) ? majority.replica : replica)
			.flatMap(replica -> replica.prepare(key, ballot, deadline))
			.doOnNext(reply -> {
				if (reply instanceof Failed) {
					failed.add(reply);
				}
			})
			.ofType(Held.class)
			.take(factor / 2 + 1)
			.collectList()
			.map(held -> (held.size() > factor / 2) ? oldest(held)
					: failed.stream().findFirst().orElseGet(() -> Failed.notDone(Reason.INTERNAL, "no majority")));
	}

	private static Reply oldest(List<Held> held) {
		return held.stream().min(Comparator.comparing(Held::version)).orElseThrow();
	}

}
