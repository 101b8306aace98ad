package io.kvorum.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

import io.kvorum.clock.ClockBoundException;
import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.WriteOptions;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.replication.Replica;
import io.kvorum.replication.Replica.Purpose;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A coordinator in its plainest form, over the same replicas, that leaves out what it is
 * told to. Without shortcuts it is linearizable, too: what is found wrong with it comes
 * from the shortcut.
 */
final class ShortcutCoordinator implements Operations {

	private static final long ATTEMPT_NANOS = 30_000_000;

	private static final int ATTEMPTS = 3;

	private final Parts parts;

	private final Shortcuts shortcuts;

	ShortcutCoordinator(Parts parts, Shortcuts shortcuts) {
		this.parts = parts;
		this.shortcuts = shortcuts;
	}

	@Override
	public Replicas defaults() {
		return this.parts.policy().defaults();
	}

	@Override
	public Mono<Live> get(Key key, Replicas asked) {
		Deadline deadline = Deadline.after(this.parts.node().time(), ProductOperations.READ_TIMEOUT);
		List<Replica> set = setOf(key, asked);
		return gather(set, asked.ack(), replica -> replica.read(key, deadline), false).flatMap(replies -> {
			Held newest = newest(replies);
			Entry entry = newest.entry();
			if (entry == null) {
				return Mono.empty();
			}
			Mono<Live> answer = (entry instanceof Live live) ? Mono.just(live) : Mono.empty();
			boolean agreed = replies.stream()
				.allMatch(reply -> reply instanceof Held held && held.version().equals(newest.version()));
			if (agreed || this.shortcuts.writeBack == WriteBack.NONE) {
				return answer;
			}
			Mono<List<Reply>> writeBack = gather(set, asked.ack(),
					replica -> replica.store(key, entry, Purpose.REPAIR, deadline), false);
			if (this.shortcuts.writeBack == WriteBack.NOT_WAITED_FOR) {
				writeBack.subscribe(_ -> {
				}, _ -> {
				});
				return answer;
			}
			return writeBack.then(answer);
		});
	}

	@Override
	public Mono<Version> put(Key key, WriteOptions options, int value, @Nullable Ttl ttl) {
		Replicas asked = options.replicas();
		return write(key, asked, version -> new Live(version, asked.from(), Live.NEVER, "", Values.of(value)), 1);
	}

	/** It has none; they are about the coordinator of the product. */
	@Override
	public Mono<Map<Key, Integer>> range(int pageBytes) {
		return Mono.empty();
	}

	@Override
	public Mono<Version> delete(Key key, WriteOptions options) {
		Replicas asked = options.replicas();
		return write(key, asked, version -> new Tombstone(version, asked.from()), 1);
	}

	private Mono<Version> write(Key key, Replicas asked, Function<Version, Entry> maker, int attempt) {
		List<Replica> set = setOf(key, asked);
		long nanos = this.shortcuts.retries ? ATTEMPT_NANOS : ProductOperations.WRITE_TIMEOUT.toNanos();
		Deadline deadline = new Deadline(this.parts.node().time().nanos() + nanos);
		Mono<Version> version = this.shortcuts.onePhase ? next(Version.ABSENT)
				: gather(set, asked.from() / 2 + 1, replica -> replica.readVersion(key, deadline), false)
					.flatMap(replies -> next(newest(replies).version()));
		Mono<Version> written = version.flatMap(given -> {
			Entry entry = maker.apply(given);
			return gather(set, asked.ack(), replica -> store(replica, key, entry, deadline), true).thenReturn(given);
		});
		boolean triesAgain = (this.shortcuts.retries || this.shortcuts.stampsAgain) && attempt < ATTEMPTS;
		if (!triesAgain) {
			return written;
		}
		Predicate<Throwable> isWorthIt = error -> error instanceof NotReachedException ex
				&& (this.shortcuts.retries || ex.isRejected());
		return written.onErrorResume(isWorthIt,
				error -> write(key, asked, maker, attempt + 1).onErrorMap(NotReachedException.class,
						// What an earlier attempt may have done, the whole may
						// have done.
						ex -> ex.after((NotReachedException) error)));
	}

	private Mono<Reply> store(Replica replica, Key key, Entry entry, Deadline deadline) {
		Mono<Reply> stored = replica.store(key, entry, Purpose.WRITE, deadline);
		if (!this.shortcuts.hintsCount) {
			return stored;
		}
		return stored.map(reply -> {
			if (reply instanceof Failed) {
				this.parts.node().after(this.parts.chance().nanos(10, 500), () -> {
					Deadline later = Deadline.after(this.parts.node().time(), ProductOperations.WRITE_TIMEOUT);
					replica.store(key, entry, Purpose.REPAIR, later).subscribe();
				});
				return Reply.Acknowledged.INSTANCE;
			}
			return reply;
		});
	}

	private Mono<Version> next(Version seen) {
		if (this.shortcuts.wallClock) {
			return Mono.just(new Version(this.parts.node().time().millis() << Version.COUNTER_BITS,
					this.parts.node().disk().content().identity));
		}
		return Mono.fromSupplier(() -> this.parts.clock().nextAfter(seen))
			.onErrorResume(ClockBoundException.class,
					_ -> Mono.fromCompletionStage(this.parts.clock()::extension)
						.then(Mono.fromSupplier(() -> this.parts.clock().nextAfter(seen))))
			.onErrorMap(_ -> new NotReachedException(false, false));
	}

	private List<Replica> setOf(Key key, Replicas asked) {
		List<Replica> set = new ArrayList<>();
		for (Member member : this.parts.placement().replicasOf(key, asked.from())) {
			set.add(this.parts.replicas().get(member.index()));
		}
		return set;
	}

	private static Held newest(List<Reply> replies) {
		Held newest = Held.nothing();
		for (Reply reply : replies) {
			if (reply instanceof Held held && held.version().isNewerThan(newest.version())) {
				newest = held;
			}
		}
		return newest;
	}

	/** Asks all and completes with the first that succeed, when they are enough. */
	private static Mono<List<Reply>> gather(List<Replica> set, int required, Function<Replica, Mono<Reply>> ask,
			boolean stores) {
		return Mono.create(sink -> {
			Gathering gathering = new Gathering(sink, set.size(), required, stores);
			set.forEach(replica -> ask.apply(replica).subscribe(gathering::add, sink::error));
		});
	}

	private static final class Gathering {

		private final MonoSink<List<Reply>> sink;

		private final int size;

		private final int required;

		private final boolean stores;

		private final List<Reply> succeeded = new ArrayList<>();

		private final List<Failed> failed = new ArrayList<>();

		private boolean decided;

		Gathering(MonoSink<List<Reply>> sink, int size, int required, boolean stores) {
			this.sink = sink;
			this.size = size;
			this.required = required;
			this.stores = stores;
		}

		void add(Reply reply) {
			if (this.decided) {
				return;
			}
			if (reply instanceof Failed failure) {
				this.failed.add(failure);
			}
			else {
				this.succeeded.add(reply);
			}
			if (this.succeeded.size() == this.required) {
				this.decided = true;
				this.sink.success(List.copyOf(this.succeeded));
			}
			else if (this.size - this.failed.size() < this.required) {
				this.decided = true;
				boolean mayHaveHappened = this.stores && (this.failed.size() + this.succeeded.size() < this.size
						|| !this.succeeded.isEmpty() || this.failed.stream().anyMatch(Failed::mayHaveHappened));
				this.sink.error(new NotReachedException(mayHaveHappened,
						this.failed.stream().anyMatch(RejectingReplica::isRejection)));
			}
		}

	}

	/** What a read does where replicas do not agree. */
	enum WriteBack {

		WAITED_FOR, NOT_WAITED_FOR, NONE

	}

	/**
	 * What is left out.
	 *
	 * @param wallClock versions are what the wall clock says
	 * @param onePhase versions are not above what replicas hold
	 * @param stampsAgain a write that replicas reject as old is sent again with a new
	 * version
	 * @param retries a write without enough answers is sent again with a new version
	 * @param hintsCount a replica that failed counts, as it will get the entry later
	 */
	record Shortcuts(boolean wallClock, boolean onePhase, WriteBack writeBack, boolean stampsAgain, boolean retries,
			boolean hintsCount) {

		static final Shortcuts NONE = new Shortcuts(false, false, WriteBack.WAITED_FOR, false, false, false);

		static Shortcuts wallClockOnePhase() {
			return new Shortcuts(true, true, WriteBack.NONE, false, false, false);
		}

		static Shortcuts onePhase(WriteBack writeBack) {
			return new Shortcuts(false, true, writeBack, false, false, false);
		}

		static Shortcuts twoPhase(WriteBack writeBack) {
			return new Shortcuts(false, false, writeBack, false, false, false);
		}

		static Shortcuts stampAgain() {
			return new Shortcuts(false, false, WriteBack.WAITED_FOR, true, false, false);
		}

		static Shortcuts retry() {
			return new Shortcuts(false, false, WriteBack.WAITED_FOR, false, true, false);
		}

		static Shortcuts countHints() {
			return new Shortcuts(false, false, WriteBack.WAITED_FOR, false, false, true);
		}

	}

	/** Too few replicas succeeded. */
	static final class NotReachedException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final boolean mayHaveHappened;

		private final boolean rejected;

		NotReachedException(boolean mayHaveHappened, boolean rejected) {
			super("not reached", null, false, false);
			this.mayHaveHappened = mayHaveHappened;
			this.rejected = rejected;
		}

		boolean mayHaveHappened() {
			return this.mayHaveHappened;
		}

		boolean isRejected() {
			return this.rejected;
		}

		NotReachedException after(NotReachedException earlier) {
			return new NotReachedException(this.mayHaveHappened || earlier.mayHaveHappened, this.rejected);
		}

	}

}
