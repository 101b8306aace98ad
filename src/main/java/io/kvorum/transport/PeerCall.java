package io.kvorum.transport;

import java.util.concurrent.Executor;

import io.kvorum.kv.Key;
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

	final long deadlineNanos;

	final long startedNanos;

	private final MonoSink<Reply> sink;

	/** Executor that receives the reply; null for the loop of the stream. */
	private final @Nullable Executor caller;

	private boolean over;

	PeerCall(Call call, Key key, long deadlineNanos, long startedNanos, MonoSink<Reply> sink,
			@Nullable Executor caller) {
		this.call = call;
		this.key = key;
		this.deadlineNanos = deadlineNanos;
		this.startedNanos = startedNanos;
		this.sink = sink;
		this.caller = caller;
	}

	/** The same call on another loop. */
	PeerCall elsewhere(Executor loop) {
		return new PeerCall(this.call, this.key, this.deadlineNanos, this.startedNanos, this.sink,
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
		}
		else {
			this.caller.execute(() -> this.sink.success(reply));
		}
	}

	/** The reply to a call that was sent and whose answer is lost. */
	Failed lost(Reason reason, String detail) {
		return isStore() ? Failed.unknown(reason, detail) : Failed.notDone(reason, detail);
	}

	boolean isStore() {
		return this.call == Call.STORE || this.call == Call.REPAIR;
	}

	/** Whether its time counts as the latency of a read. */
	boolean isRead() {
		return this.call == Call.READ || this.call == Call.READ_VERSION;
	}

	byte kind() {
		return switch (this.call) {
			case READ -> ReplicaProtocol.READ;
			case READ_VERSION -> ReplicaProtocol.READ_VERSION;
			case STORE -> ReplicaProtocol.STORE;
			case REPAIR -> ReplicaProtocol.REPAIR;
			case SCAN -> ReplicaProtocol.SCAN;
			case QUESTION -> ReplicaProtocol.QUESTION;
		};
	}

}
