package io.kvorum.transport;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.transport.TransportEvents.Call;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/** A call of a peer, from its request until its reply is delivered. */
final class PeerCall {

	final Call call;

	final Key key;

	/** As {@link OperationFrame#version}. */
	final Version version;

	final long deadlineNanos;

	final long startedNanos;

	private final MonoSink<Reply> sink;

	/** Executor that receives the reply; null for the loop of the stream. */
	private final @Nullable Executor caller;

	private boolean over;

	/** The length of what was sent with it. */
	int sentBytes;

	PeerCall(Call call, Key key, Version version, long deadlineNanos, long startedNanos, MonoSink<Reply> sink,
			@Nullable Executor caller) {
		this.call = call;
		this.key = key;
		this.version = version;
		this.deadlineNanos = deadlineNanos;
		this.startedNanos = startedNanos;
		this.sink = sink;
		this.caller = caller;
	}

	/** The same call on another loop. */
	PeerCall elsewhere(Executor loop) {
		return new PeerCall(this.call, this.key, this.version, this.deadlineNanos, this.startedNanos, this.sink,
				(this.caller != null) ? this.caller : loop);
	}

	/** Whether it has been answered. Called on the loop of its stream. */
	boolean isOver() {
		return this.over;
	}

	void reply(Reply reply) {
		this.over = true;
		if (this.caller == null) {
			this.sink.success(reply);
			return;
		}
		try {
			this.caller.execute(() -> this.sink.success(reply));
		}
		catch (RejectedExecutionException _) {
			// Its event loop has ended. The calls behind it are still to be told.
			this.sink.success(reply);
		}
	}

	/**
	 * The reply to a call that was sent and whose answer is lost. A prepare that may have
	 * been carried out counts as not done: it stores nothing, and its promise only keeps
	 * older entries out.
	 */
	Failed lost(Reason reason, String detail) {
		return isStore() ? Failed.unknown(reason, detail) : Failed.notDone(reason, detail);
	}

	boolean isStore() {
		return switch (this.call) {
			case STORE, WRITE_BACK, REPAIR, ACCEPT -> true;
			case READ, READ_VERSION, PREPARE, SCAN, QUERY -> false;
		};
	}

	/** Whether only a peer that knows ballots can carry it out. */
	boolean needsBallots() {
		return this.call == Call.PREPARE || this.call == Call.ACCEPT;
	}

	/**
	 * Whether its time counts as the latency of a read. That of a prepare does not: it
	 * has a sync of the disk in it.
	 */
	boolean isRead() {
		return this.call == Call.READ || this.call == Call.READ_VERSION;
	}

	/** The kind of its operation on a stream of this form. */
	byte kind(EntryForm form) {
		return switch (this.call) {
			case READ -> ReplicaProtocol.READ;
			case READ_VERSION -> ReplicaProtocol.READ_VERSION;
			case STORE -> ReplicaProtocol.STORE;
			case WRITE_BACK -> form.knowsBallots() ? ReplicaProtocol.WRITE_BACK : ReplicaProtocol.REPAIR;
			case REPAIR -> ReplicaProtocol.REPAIR;
			case PREPARE -> ReplicaProtocol.PREPARE;
			case ACCEPT -> ReplicaProtocol.ACCEPT;
			case SCAN -> ReplicaProtocol.SCAN;
			case QUERY -> ReplicaProtocol.QUERY;
		};
	}

}
