package io.kvorum.transport;

import java.util.Map;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import io.kvorum.transport.ReplicaProtocol.Lane;
import io.kvorum.transport.TransportEvents.Call;
import reactor.core.publisher.Mono;

/**
 * Replica of another node. A call uses the stream of its event loop if that is open, and
 * any other open one if not. Large entries, scans, queries and callers outside the event
 * loops use one stream that all share.
 */
final class RemoteReplica implements Replica {

	private final Member member;

	private final Map<Executor, PeerStream> ofLoops;

	private final PeerStream large;

	/** All streams; searched if the caller's own one is not open. */
	private final PeerStream[] streams;

	private final CallerThreads callers;

	/** The topologies of this node. */
	private final TopologyNames own;

	/**
	 * Creates the replica on a peer.
	 * @param ofLoops a stream for each event loop
	 * @param large stream for large entries, and for callers outside these loops
	 * @param own the topologies of this node
	 */
	RemoteReplica(Member member, Map<? extends Executor, PeerStream> ofLoops, PeerStream large, CallerThreads callers,
			TopologyNames own) {
		this.own = own;
		this.member = member;
		this.ofLoops = Map.copyOf(ofLoops);
		this.large = large;
		this.streams = Stream.concat(Stream.of(large), this.ofLoops.values().stream()).toArray(PeerStream[]::new);
		this.callers = callers;
	}

	@Override
	public Member member() {
		return this.member;
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		return call(Call.READ, key, Version.ABSENT, Frame.NO_BYTES, deadline);
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return call(Call.READ_VERSION, key, Version.ABSENT, Frame.NO_BYTES, deadline);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		Call call = switch (purpose) {
			case WRITE -> Call.STORE;
			case WRITE_BACK -> Call.WRITE_BACK;
			case REPAIR -> Call.REPAIR;
		};
		return call(call, key, Version.ABSENT, EntryFormat.encode(key, entry), deadline);
	}

	@Override
	public Mono<Reply> prepare(Key key, Version ballot, Deadline deadline) {
		return call(Call.PREPARE, key, ballot, Frame.NO_BYTES, deadline);
	}

	@Override
	public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		return call(Call.ACCEPT, key, base, EntryFormat.encode(key, entry), deadline);
	}

	@Override
	public boolean knowsBallots() {
		for (PeerStream stream : this.streams) {
			if (stream.isOpenWithoutBallots()) {
				return false;
			}
		}
		return true;
	}

	@Override
	public boolean knowsTags() {
		return !this.large.isOpenWithoutTags();
	}

	@Override
	public boolean isOfSameTopology() {
		return this.large.isTo(this.own);
	}

	@Override
	public boolean isBehind() {
		return this.large.isBehind(this.own);
	}

	private Mono<Reply> call(Call call, Key key, Version version, byte[] entry, Deadline deadline) {
		return Mono.create(sink -> {
			Executor caller = this.callers.current();
			PeerStream stream = (entry.length > Lane.SMALL_BYTES) ? this.large : streamOf(caller);
			stream.call(call, key, version, entry, deadline, sink, caller);
		});
	}

	/**
	 * Scans over the stream of large entries: on another one a page would delay small
	 * entries.
	 */
	@Override
	public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return Mono.create(sink -> this.large.call(Call.SCAN, OperationFrame.NO_KEY, Version.ABSENT,
				new ScanOrder(range, limit).toBytes(), deadline, sink, this.callers.current()));
	}

	/** Asks over the stream of large entries, because the answer may be long. */
	@Override
	public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
		return Mono.create(sink -> this.large.call(Call.QUERY, OperationFrame.NO_KEY, Version.ABSENT, query.toBytes(),
				deadline, sink, this.callers.current()));
	}

	/** An open stream if there is one: the peer is away only if it has none. */
	private PeerStream streamOf(Executor caller) {
		PeerStream own = this.ofLoops.getOrDefault(caller, this.large);
		if (own.isOpen()) {
			return own;
		}
		for (PeerStream stream : this.streams) {
			if (stream.isOpen()) {
				return stream;
			}
		}
		return own;
	}

	@Override
	public long expectedNanos() {
		return streamOf(this.callers.current()).expectedNanos();
	}

}
