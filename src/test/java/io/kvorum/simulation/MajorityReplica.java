package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A replica that answers a ballot with what a majority of promises has at least, and not
 * with what it holds.
 *
 * @param ballots the answer of each ballot, of all replicas of a coordinator
 */
record MajorityReplica(Replica replica, Parts parts, Map<Version, Mono<Reply>> ballots) implements Replica {

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

	@Override
	public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return this.replica.accept(key, entry, base, deadline);
	}

	@Override
	public Member member() {
		return this.replica.member();
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		return this.replica.read(key, deadline);
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return this.replica.readVersion(key, deadline);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		return this.replica.store(key, entry, purpose, deadline);
	}

	@Override
	public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return this.replica.scan(range, limit, deadline);
	}

	@Override
	public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
		return this.replica.ask(query, deadline);
	}

	@Override
	public long expectedNanos() {
		return this.replica.expectedNanos();
	}

}
