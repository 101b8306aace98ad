package io.kvorum.convergence.antientropy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.Answered;
import io.kvorum.replication.LocalReplica;
import io.kvorum.replication.PeerQueries;
import io.kvorum.replication.PeerQuery;
import io.kvorum.storage.Page;
import io.kvorum.storage.PartitionIndex;
import io.kvorum.storage.PromiseLog;
import io.kvorum.storage.StorageException;
import reactor.core.publisher.Mono;

/** Answers the queries by which other members find their differences to this store. */
public final class Responder implements PeerQueries {

	/** The bytes of keys and versions after which an answer has no further partition. */
	private static final int MAX_ANSWER_BYTES = 1 << 20;

	/** The number of entries looked at after which an answer has no further partition. */
	private static final int MAX_ANSWER_HEADERS = 16_384;

	/** The bytes of entries after which an answer has no further entry. */
	private static final int MAX_PAGE_BYTES = 256 << 10;

	private final PartitionIndex index;

	private final PromiseLog promises;

	private final RendezvousPlacement placement;

	private final Topology topology;

	private final Member self;

	public Responder(PartitionIndex index, PromiseLog promises, RendezvousPlacement placement, Topology topology,
			Member self) {
		this.index = index;
		this.promises = promises;
		this.placement = placement;
		this.topology = topology;
		this.self = self;
	}

	@Override
	public Mono<Reply> answer(PeerQuery query, Deadline deadline) {
		return Mono.defer(() -> answer(query.kind(), query.body(), deadline))
			.cast(Reply.class)
			.onErrorResume(Responder::failed);
	}

	private static Mono<Reply> failed(Throwable error) {
		return switch (error) {
			case StorageException ex -> Mono.just(LocalReplica.failure(ex));
			case IllegalArgumentException ex -> Mono.just(Failed.notDone(Reason.INTERNAL, "asked " + ex.getMessage()));
			case RuntimeException ex -> Mono.just(Failed.notDone(Reason.INTERNAL, "asked what is no query: " + ex));
			default -> Mono.error(error);
		};
	}

	private Mono<Answered> answer(PeerQuery.Kind kind, ByteBuffer in, Deadline deadline) {
		return switch (kind) {
			case SLICES -> withView(in, PairView::slices, deadline);
			case LEAVES -> withView(in, view -> leaves(view, Messages.readSlices(in)), deadline);
			case COMPARE -> compare(Messages.readLeaves(in), deadline);
			case FETCH -> fetch(Messages.readKeys(in), Page.Limit.of(MAX_PAGE_BYTES, Integer.MAX_VALUE), deadline);
			case FETCH_WHOLE -> fetch(Messages.readKeys(in), Page.Limit.ofWhole(), deadline);
			case PROMISES -> this.promises.readable(Messages.readAfter(in), PromiseLog.PAGE, deadline)
				.map(promises -> new Answered(Messages.promises(promises)));
			case INTRODUCTION, HEAD, CHANGE ->
				throw new IllegalArgumentException("for what is no matter of anti-entropy");
		};
	}

	private Mono<Answered> withView(ByteBuffer in, Function<PairView, long[]> view, Deadline deadline) {
		if (!this.index.digests().isComplete()) {
			return Mono
				.error(new StorageException.Unavailable("its index is being read, since the node has just started"));
		}
		Member asker = this.topology.memberOf(in.getInt());
		return this.index
			.ofDigests(digests -> view.apply(new PairView(digests, this.placement, this.self, asker)), deadline)
			.map(digests -> new Answered(Messages.digests(digests)));
	}

	static long[] leaves(PairView view, List<Integer> slices) {
		long[] leaves = new long[slices.size() * Partitions.IN_SLICE];
		int at = 0;
		for (int slice : slices) {
			int first = Partitions.firstOf(Objects.checkIndex(slice, Partitions.SLICES));
			for (int i = 0; i < Partitions.IN_SLICE; i++) {
				leaves[at++] = view.leaf(first + i);
			}
		}
		return leaves;
	}

	/** Answers for as many leaves as fit, at least one. */
	private Mono<Answered> compare(List<Leaf> leaves, Deadline deadline) {
		List<Integer> partitions = leaves.stream()
			.map(leaf -> Objects.checkIndex(leaf.partition, Partitions.COUNT))
			.toList();
		return this.index.headers(partitions, MAX_ANSWER_HEADERS, deadline).map(here -> {
			List<Difference> differences = new ArrayList<>();
			int bytes = 0;
			for (int i = 0; i < here.size() && bytes < MAX_ANSWER_BYTES; i++) {
				Difference difference = Difference.between(leaves.get(i), here.get(i), this.index.keyHash());
				differences.add(difference);
				bytes += Messages.lengthOf(difference);
			}
			return new Answered(Messages.differences(differences, this.placement::copiesOf));
		});
	}

	private Mono<Answered> fetch(List<Key> keys, Page.Limit limit, Deadline deadline) {
		Key[] sorted = keys.toArray(Key[]::new);
		Arrays.sort(sorted);
		return this.index.fetch(List.of(sorted), limit, deadline).map(Messages::page);
	}

}
