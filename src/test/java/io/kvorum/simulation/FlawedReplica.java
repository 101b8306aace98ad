package io.kvorum.simulation;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.replication.Replica;
import io.kvorum.testing.ForwardedReplica;
import reactor.core.publisher.Mono;

/** A replica that stores in a manner of its own. */
final class FlawedReplica extends ForwardedReplica {

	private final Manner manner;

	private FlawedReplica(Replica replica, Manner manner) {
		super(replica);
		this.manner = manner;
	}

	/** Acknowledges repairs of keys that it has nothing of, and leaves it at that. */
	static Replica thatIgnoresAbsent(Replica replica, TimeSource time) {
		return new FlawedReplica(replica,
				(key, entry, purpose,
						deadline) -> !purpose.isRepair() ? replica.store(key, entry, Purpose.WRITE, deadline)
								: replica.readVersion(key, deadline)
									.flatMap(reply -> (reply instanceof Held held && held.version().timestamp() == 0)
											? Mono.just(Acknowledged.INSTANCE)
											: replica.store(key, entry, purpose, deadline)));
	}

	/** Takes the time to live from now on, by its own clock. */
	static Replica thatStampsExpiry(Replica replica, TimeSource time) {
		return new FlawedReplica(replica,
				(key, entry, purpose, deadline) -> replica.store(key,
						(entry instanceof Live live && live.expires()) ? new Live(live.version(), live.copies(),
								time.millis() + live.expiresAtMillis() - live.version().millis(), live.contentType(),
								live.value()) : entry,
						purpose, deadline));
	}

	/** Acknowledges repairs that never reach the disk. */
	static Replica thatLosesRepairs(Replica replica, TimeSource time) {
		return new FlawedReplica(replica, (key, entry, purpose, deadline) -> purpose.isRepair()
				? Mono.just(Acknowledged.INSTANCE) : replica.store(key, entry, Purpose.WRITE, deadline));
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		return this.manner.store(key, entry, purpose, deadline);
	}

	/** How it stores. */
	@FunctionalInterface
	private interface Manner {

		Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline);

	}

}
