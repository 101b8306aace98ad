package io.kvorum.transport;

import java.util.List;
import java.util.concurrent.Executor;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply;
import io.kvorum.replication.Replica;
import io.kvorum.storage.CallerThreads;
import io.kvorum.storage.EntryFormat;
import io.kvorum.transport.ReplicaProtocol.Lane;
import io.kvorum.transport.TransportEvents.Call;
import io.netty.channel.EventLoop;
import reactor.core.publisher.Mono;

/**
 * The replica of another node: asked over the stream of the event loop that asks, or, for
 * large entries and other threads, over one that all share.
 */
final class RemoteReplica implements Replica {

	private final Member member;

	private final List<PeerStream> streams;

	private final List<EventLoop> loops;

	private final PeerStream large;

	private final CallerThreads callers;

	/**
	 * The replica on a peer.
	 * @param streams one for each of the loops
	 * @param large for large entries
	 */
	RemoteReplica(Member member, List<EventLoop> loops, List<PeerStream> streams, PeerStream large,
			CallerThreads callers) {
		this.member = member;
		this.loops = List.copyOf(loops);
		this.streams = List.copyOf(streams);
		this.large = large;
		this.callers = callers;
	}

	@Override
	public Member member() {
		return this.member;
	}

	@Override
	public Mono<Reply> read(Key key, Deadline deadline) {
		return call(Call.READ, key, Frame.NO_BYTES, deadline);
	}

	@Override
	public Mono<Reply> readVersion(Key key, Deadline deadline) {
		return call(Call.READ_VERSION, key, Frame.NO_BYTES, deadline);
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, boolean repair, Deadline deadline) {
		return call(repair ? Call.REPAIR : Call.STORE, key, EntryFormat.encode(key, entry), deadline);
	}

	private Mono<Reply> call(Call call, Key key, byte[] entry, Deadline deadline) {
		return Mono.create(sink -> {
			Executor caller = this.callers.current();
			PeerStream stream = (entry.length > Lane.SMALL_BYTES) ? this.large : streamOf(caller);
			stream.call(call, key, entry, deadline, sink, caller);
		});
	}

	private PeerStream streamOf(Executor caller) {
		for (int i = 0; i < this.loops.size(); i++) {
			if (this.loops.get(i) == caller) {
				return this.streams.get(i);
			}
		}
		return this.streams.getFirst();
	}

	@Override
	public long expectedNanos() {
		return streamOf(this.callers.current()).expectedNanos();
	}

}
