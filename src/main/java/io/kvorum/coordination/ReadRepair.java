package io.kvorum.coordination;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.quorum.Reply;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.concurrent.Queues;

/**
 * Repairs the replicas that an eventual read found behind, in the background.
 * <p>
 * At most {@value #MAX_AT_ONCE} repairs run at a time. If more than {@value #MAX_WAITING}
 * wait, or the values of all take more than {@value #MAX_WAITING_BYTES} bytes, further
 * ones are dropped. A later read finds the same difference again.
 */
public final class ReadRepair {

	private static final Logger logger = LoggerFactory.getLogger(ReadRepair.class);

	private static final int MAX_WAITING = 1024;

	private static final long MAX_WAITING_BYTES = 8 << 20;

	private static final int MAX_AT_ONCE = 16;

	private final TimeSource time;

	private final Duration timeout;

	private final CoordinationEvents events;

	private final Sinks.Many<Repair> waiting = Sinks.many()
		.unicast()
		.onBackpressureBuffer(Queues.<Repair>get(MAX_WAITING).get());

	private final AtomicLong waitingBytes = new AtomicLong();

	public ReadRepair(TimeSource time, Duration timeout, CoordinationEvents events) {
		this.time = time;
		this.timeout = timeout;
		this.events = events;
	}

	/** Repairs while it is subscribed to. Subscribe once. */
	public Flux<Reply> run() {
		return this.waiting.asFlux().flatMap(this::repair, MAX_AT_ONCE, 1);
	}

	private Mono<Reply> repair(Repair repair) {
		return Mono.defer(() -> repair.replica.store(repair.key, repair.entry, Purpose.REPAIR, repair.deadline))
			.onErrorResume(error -> {
				logger.error("A repair failed", error);
				return Mono.empty();
			})
			.doFinally(_ -> this.waitingBytes.addAndGet(-repair.bytes));
	}

	/**
	 * Submits the repair of a replica that holds an older entry, or drops it if too much
	 * is waiting.
	 */
	void submit(Replica replica, Key key, Entry entry) {
		int bytes = (entry instanceof Live live) ? live.value().length() : 0;
		if (this.waitingBytes.addAndGet(bytes) <= MAX_WAITING_BYTES
				&& submit(new Repair(replica, key, entry, bytes, Deadline.after(this.time, this.timeout)))) {
			this.events.repairing();
		}
		else {
			this.waitingBytes.addAndGet(-bytes);
			this.events.repairDropped();
		}
	}

	private synchronized boolean submit(Repair repair) {
		return this.waiting.tryEmitNext(repair).isSuccess();
	}

	/**
	 * A repair that waits. After its deadline it is not made: all may have deleted the
	 * entry meanwhile, and collected the tombstone.
	 */
	private record Repair(Replica replica, Key key, Entry entry, int bytes, Deadline deadline) {
	}

}
