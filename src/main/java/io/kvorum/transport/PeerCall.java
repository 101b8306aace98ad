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

	/** What is sent behind the key. */
	private byte[] body;

	final long deadlineNanos;

	final long startedNanos;

	private final MonoSink<Reply> sink;

	/** Executor that receives the reply; null for the loop of the stream. */
	private final @Nullable Executor caller;

	private boolean over;

	PeerCall(Call call, Key key, byte[] body, long deadlineNanos, long startedNanos, MonoSink<Reply> sink,
			@Nullable Executor caller) {
		this.call = call;
		this.key = key;
		this.body = body;
		this.deadlineNanos = deadlineNanos;
		this.startedNanos = startedNanos;
		this.sink = sink;
		this.caller = caller;
	}

	/** The same call on another loop. */
	PeerCall elsewhere(Executor loop) {
		return new PeerCall(this.call, this.key, this.body, this.deadlineNanos, this.startedNanos, this.sink,
				(this.caller != null) ? this.caller : loop);
	}

	/** The length of the body, in bytes. */
	int bodyBytes() {
		return this.body.length;
	}

	/** The body, to be sent now. Only a ballot is kept, to be sent on the other lane. */
	byte[] takeBody() {
		byte[] taken = this.body;
		if (this.call != Call.PREPARE) {
			this.body = Frame.NO_BYTES;
		}
		return taken;
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
		return mayStore() ? Failed.unknown(reason, detail) : Failed.notDone(reason, detail);
	}

	/** Whether it stores an entry. */
	private boolean mayStore() {
		return isStore() || this.call == Call.ACCEPT;
	}

	/** Whether its body is an entry. */
	boolean isStore() {
		return this.call == Call.STORE || this.call == Call.REPAIR || this.call == Call.WRITE_BACK;
	}

	/** Whether only peers that know ballots take it. */
	boolean isBallot() {
		return this.call == Call.PREPARE || this.call == Call.ACCEPT;
	}

	/** Whether its time counts as the latency of a read. */
	boolean isRead() {
		return this.call == Call.READ || this.call == Call.READ_VERSION;
	}

	/**
	 * The kind in the protocol.
	 * @param hasBallots whether the peer knows ballots; others count no write-backs
	 */
	byte kind(boolean hasBallots) {
		return switch (this.call) {
			case READ -> ReplicaProtocol.READ;
			case READ_VERSION -> ReplicaProtocol.READ_VERSION;
			case STORE -> ReplicaProtocol.STORE;
			case REPAIR -> ReplicaProtocol.REPAIR;
			case WRITE_BACK -> hasBallots ? ReplicaProtocol.WRITE_BACK : ReplicaProtocol.REPAIR;
			case PREPARE -> ReplicaProtocol.PREPARE;
			case ACCEPT -> ReplicaProtocol.ACCEPT;
			case SCAN -> ReplicaProtocol.SCAN;
			case QUESTION -> ReplicaProtocol.QUESTION;
		};
	}

}
