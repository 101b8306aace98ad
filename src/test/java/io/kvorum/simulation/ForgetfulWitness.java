package io.kvorum.simulation;

import java.nio.ByteBuffer;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.quorum.Reply;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.testing.ForwardedReplica;
import reactor.core.publisher.Mono;

/** A replica that tells no other node when it saw it alive. */
final class ForgetfulWitness extends ForwardedReplica {

	private ForgetfulWitness(Replica replica) {
		super(replica);
	}

	static Replica of(Replica replica, TimeSource time) {
		return new ForgetfulWitness(replica);
	}

	@Override
	public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
		if (query.kind() != PeerQuery.Kind.INTRODUCTION) {
			return this.replica.ask(query, deadline);
		}
		return this.replica.ask(PeerQuery.of(forgotten(query.toBytes())), deadline)
			.map(reply -> (reply instanceof Answered answered) ? new Answered(forgotten(answered.bytes())) : reply);
	}

	/** An introduction ends with that instant. */
	private static byte[] forgotten(byte[] introduction) {
		byte[] forgotten = introduction.clone();
		ByteBuffer.wrap(forgotten).putLong(forgotten.length - Long.BYTES, 0);
		return forgotten;
	}

}
