package io.kvorum.simulation;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor;
import io.kvorum.storage.Acceptor.Verdict;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.StorageException.WriteFailed;
import io.kvorum.storage.StorageException.WriteTimedOut;
import io.kvorum.testing.Pages;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A storage engine and the disk under it. Stores go in batches, one after the other; what
 * is acknowledged is on disk. At a crash the rest is lost, but for the batch under way,
 * which may be found.
 */
final class SimulatedDisk implements StorageEngine {

	/** How long the engine waits for the disk. */
	static final long WRITE_LIMIT_NANOS = 2_000_000_000L;

	private final SimulatedNode node;

	private final Chance chance;

	private final Scenario scenario;

	private final Manners manners;

	private DiskContent content;

	/** Of the shortcut only: acknowledged, not on disk. */
	private final Map<Key, Entry> unsynced = new HashMap<>();

	private final List<Write<?>> waiting = new ArrayList<>();

	private List<Write<?>> underWay = List.of();

	/** Those whose write failed: found after a restart, or not. */
	private final List<Write<?>> doubtful = new ArrayList<>();

	/** Of the shortcut only: takes back what was promised and is not on disk. */
	private final List<Runnable> lostAtCrash = new ArrayList<>();

	/** Whether the batch under way has a promise in it. */
	private boolean hasPromised;

	private long boundUnderWay;

	/** How long the next batch hangs; 0 if it does not. */
	private long hangNanos;

	/** Whether writes may have to be given up. */
	private boolean mayHang;

	private boolean troubled;

	private boolean failed;

	private boolean sound;

	SimulatedDisk(SimulatedNode node, Chance chance, Scenario scenario, Manners manners) {
		this.node = node;
		this.chance = chance;
		this.scenario = scenario;
		this.manners = manners;
		this.content = new DiskContent(identity(), this.scenario.factor());
	}

	DiskContent content() {
		return this.content;
	}

	@Override
	public Mono<Entry> read(Key key, Deadline deadline) {
		return Mono.defer(() -> {
			if (this.troubled && this.chance.of(0.2)) {
				return Mono.error(new Unreadable(new IOException("a damaged block")));
			}
			Entry found = found(key);
			return this.chance.of(0.8) ? Mono.justOrEmpty(found) : later(found);
		});
	}

	@Override
	public Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
		return Mono.create(sink -> this.node.after(this.chance.nanos(0.05, 10), () -> {
			if (this.troubled && this.chance.of(0.2)) {
				sink.error(new Unreadable(new IOException("a damaged block")));
			}
			else {
				TreeMap<Key, Entry> all = new TreeMap<>(this.content.entries);
				all.putAll(this.unsynced);
				sink.success(Pages.of(all, range, limit));
			}
		}));
	}

	private @Nullable Entry found(Key key) {
		Entry entry = this.unsynced.get(key);
		return (entry != null) ? entry : this.content.entries.get(key);
	}

	private Mono<Entry> later(@Nullable Entry found) {
		return Mono.create(sink -> this.node.after(this.chance.nanos(0.05, 10), () -> {
			if (found != null) {
				sink.success(found);
			}
			else {
				sink.success();
			}
		}));
	}

	@Override
	public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
		return (this.manners == Manners.NOT_SYNCED) ? storeUnsynced(key, entry)
				: write(() -> put(key, entry, this.manners::store));
	}

	@Override
	public Mono<StoreOutcome> repair(Key key, Entry entry, Deadline deadline) {
		return (this.manners == Manners.NOT_SYNCED) ? storeUnsynced(key, entry)
				: write(() -> put(key, entry, this.manners::repair));
	}

	@Override
	public Mono<StoreOutcome> accept(Key key, Entry entry, Version base, Deadline deadline) {
		this.node.proposed(key, entry);
		return write(() -> put(key, entry, (state, version) -> this.manners.accept(state, version, base)));
	}

	@Override
	public Mono<Version> promised(Key key, Deadline deadline) {
		return Mono.fromSupplier(() -> this.content.stateOf(key).promise());
	}

	@Override
	public Mono<StoreOutcome> prepare(Key key, Version ballot, Deadline deadline) {
		return (this.manners == Manners.PROMISE_NOT_SYNCED) ? promiseUnsynced(key, ballot)
				: write(() -> promise(key, ballot));
	}

	private StoreOutcome promise(Key key, Version ballot) {
		Acceptor state = this.content.stateOf(key);
		Verdict verdict = this.manners.prepare(state, ballot);
		if (verdict == Verdict.TAKEN && this.manners != Manners.NO_PROMISE) {
			this.content.promise(key, ballot);
		}
		this.hasPromised |= verdict == Verdict.TAKEN;
		this.node.log(() -> "%s k%d %s".formatted((verdict == Verdict.TAKEN) ? "promises" : "refuses", key.bytes()[0],
				Values.text(ballot)));
		return StoreOutcome.of(verdict, state);
	}

	/** Promises at once, and has the promise on disk with the next batch. */
	private Mono<StoreOutcome> promiseUnsynced(Key key, Version ballot) {
		return Mono.defer(() -> {
			Version before = this.content.promises.getOrDefault(key, Version.ABSENT);
			StoreOutcome outcome = promise(key, ballot);
			if (!outcome.isRefused()) {
				Runnable undo = () -> {
					if (ballot.equals(this.content.promises.get(key))
							&& ballot.isNewerThan(this.content.stateOf(key).held())) {
						this.content.promises.put(key, before);
					}
				};
				this.lostAtCrash.add(undo);
				write(() -> this.lostAtCrash.remove(undo)).subscribe(_ -> {
				}, _ -> {
				});
				this.node.mayTrip(true);
			}
			return Mono.just(outcome);
		});
	}

	/** Does something with what is on the disk, in the next batch. */
	<T> Mono<T> write(Supplier<T> work) {
		return Mono.create(sink -> {
			StorageException refusal = refusal();
			if (this.node.isDying()) {
				return;
			}
			if (refusal != null) {
				sink.error(refusal);
			}
			else {
				Write<T> write = new Write<>(work, sink);
				this.waiting.add(write);
				if (this.scenario.diskHangs() || this.mayHang) {
					this.node.after(WRITE_LIMIT_NANOS,
							() -> write.fail(new WriteTimedOut(Duration.ofNanos(WRITE_LIMIT_NANOS))));
				}
				begin();
			}
		});
	}

	/** Reads something from the disk, now or a little later. */
	<T> Mono<T> lookUp(Supplier<T> look) {
		return Mono.create(sink -> {
			if (this.chance.of(0.5)) {
				sink.success(look.get());
			}
			else {
				this.node.after(this.chance.nanos(0.05, 10), () -> sink.success(look.get()));
			}
		});
	}

	private @Nullable StorageException refusal() {
		if (this.failed) {
			return new Unavailable("the disk has failed");
		}
		if (!this.troubled || this.chance.of(0.8)) {
			return null;
		}
		return this.chance.of(0.5) ? new Overloaded("a queue", 1) : NoSpace.refused(0, 1);
	}

	private void begin() {
		if (this.underWay.isEmpty() && !this.waiting.isEmpty()) {
			this.underWay = List.copyOf(this.waiting);
			this.waiting.clear();
			if (this.scenario.diskHangs() && !this.sound && this.chance.of(0.02)) {
				hang(WRITE_LIMIT_NANOS + this.chance.nanos(1, 500));
			}
			else if (this.hangNanos > 0) {
				hang(this.hangNanos);
				this.hangNanos = 0;
			}
			else {
				this.node.after(commitNanos(), this::commit);
			}
		}
	}

	private long commitNanos() {
		return this.chance.of(0.05) ? this.chance.nanos(5, 50) : this.chance.nanos(0.2, 2);
	}

	/** Has the next batch hang for longer than the engine waits for it. */
	void hangNext(long nanos) {
		this.mayHang = true;
		this.hangNanos = nanos;
	}

	private void hang(long nanos) {
		this.node.log("disk hangs");
		this.node.after(nanos, this::commit);
	}

	private void commit() {
		List<Write<?>> batch = this.underWay;
		if (this.troubled && this.chance.of(0.1)) {
			failBatch(batch);
			return;
		}
		boolean noSpace = this.troubled && this.chance.of(0.1);
		for (Write<?> write : batch) {
			if (!noSpace || this.chance.of(0.5)) {
				write.run();
			}
		}
		this.underWay = List.of();
		for (Write<?> write : batch) {
			if (noSpace) {
				write.fail(NoSpace.met(new IOException("no space left")));
			}
			else {
				write.succeed();
			}
		}
		this.node.mayTrip(this.hasPromised);
		this.hasPromised = false;
		begin();
	}

	private void failBatch(List<Write<?>> batch) {
		this.node.log("disk fails");
		this.failed = true;
		this.doubtful.addAll(batch);
		this.underWay = List.of();
		List<Write<?>> refused = List.copyOf(this.waiting);
		this.waiting.clear();
		batch.forEach(write -> write.fail(new WriteFailed(new IOException("input/output error"))));
		refused.forEach(write -> write.fail(new Unavailable("the disk has failed")));
	}

	private StoreOutcome put(Key key, Entry entry, BiFunction<Acceptor, Version, Verdict> rule) {
		Acceptor state = this.content.stateOf(key);
		Verdict verdict = rule.apply(state, entry.version());
		if (verdict != Verdict.TAKEN && this.manners != Manners.NOT_COMPARED) {
			return StoreOutcome.of(verdict, state);
		}
		this.content.put(key, entry, this.node.time().millis());
		if (this.manners == Manners.PROMISE_WITH_ROW && entry.version().isNewerThan(state.promise())) {
			this.content.promises.remove(key);
		}
		this.node.has(key, entry);
		return StoreOutcome.STORED;
	}

	private Mono<StoreOutcome> storeUnsynced(Key key, Entry entry) {
		return Mono.defer(() -> {
			StorageException refusal = refusal();
			return (refusal != null) ? Mono.error(refusal)
					: this.node.isDying() ? Mono.never() : Mono.just(putUnsynced(key, entry));
		});
	}

	private StoreOutcome putUnsynced(Key key, Entry entry) {
		Entry there = found(key);
		if (there != null && !entry.version().isNewerThan(there.version())) {
			return StoreOutcome.SUPERSEDED;
		}
		this.node.log("has in memory ", entry);
		this.unsynced.put(key, entry);
		this.node.after(this.chance.nanos(10, 1_000), () -> put(key, entry, Acceptor::store));
		return StoreOutcome.STORED;
	}

	/** Completes when the bound of the clock is on disk. */
	CompletionStage<?> storeBound(long millis) {
		CompletableFuture<Void> stored = new CompletableFuture<>();
		if (this.failed) {
			stored.completeExceptionally(new Unavailable("the disk has failed"));
			return stored;
		}
		this.boundUnderWay = millis;
		this.node.after(commitNanos(), () -> {
			this.content.boundMillis = millis;
			stored.complete(null);
		});
		return stored;
	}

	long boundMillis() {
		return this.content.boundMillis;
	}

	@Override
	public Mono<Void> probe() {
		return Mono.empty();
	}

	void crash() {
		this.unsynced.clear();
		this.lostAtCrash.reversed().forEach(Runnable::run);
		this.lostAtCrash.clear();
		for (List<Write<?>> maybe : List.of(this.underWay, this.doubtful)) {
			if (this.chance.of(0.5)) {
				maybe.forEach(Write::run);
			}
		}
		if (this.chance.of(0.5)) {
			this.content.boundMillis = Math.max(this.content.boundMillis, this.boundUnderWay);
		}
		this.boundUnderWay = 0;
		this.underWay = List.of();
		this.doubtful.clear();
		this.waiting.clear();
		this.failed = false;
		this.content = this.content.copy();
	}

	/** Of a node that is down: it will find an empty one. */
	void lose() {
		this.content = new DiskContent(identity(), this.scenario.factor());
	}

	/** Random, with the node in it for those who read a story. */
	private long identity() {
		return this.chance.between(1, 1L << 48) << Byte.SIZE | this.node.index();
	}

	/** Of a node that is down: it will find this one, as it was when it was copied. */
	void replaceBy(DiskContent copied) {
		this.content = copied.copy();
	}

	/** Of a node that is down: it will find what a restore of this backup makes. */
	void restore(DiskContent backup, Map<String, byte[]> records) {
		this.content = backup.restored(identity(), records);
	}

	boolean hasFailed() {
		return this.failed;
	}

	/** From now on it neither fails nor hangs. */
	void becomeSound() {
		trouble(false);
		this.sound = true;
	}

	void trouble(boolean begins) {
		this.node.log(begins ? "disk is in trouble" : "disk is well");
		this.troubled = begins;
	}

	/** How the disk is treated: well, or with one of the planted faults. */
	enum Manners {

		WELL,

		/** Acknowledges what is not on disk. */
		NOT_SYNCED,

		/** Stores what is older, too. */
		NOT_COMPARED,

		/** Prepares without a promise, and accepts whatever was promised. */
		NO_PROMISE {
			@Override
			Verdict prepare(Acceptor state, Version ballot) {
				return Verdict.TAKEN;
			}

			@Override
			Verdict accept(Acceptor state, Version version, Version base) {
				return version.isNewerThan(state.held()) ? Verdict.TAKEN : Verdict.HELD;
			}
		},

		/** Answers a promise that is not on disk. */
		PROMISE_NOT_SYNCED,

		/** Forgets a promise when something newer is stored. */
		PROMISE_WITH_ROW,

		/** Stores below a promise. */
		STORE_BELOW {
			@Override
			Verdict store(Acceptor state, Version version) {
				return version.isNewerThan(state.held()) ? Verdict.TAKEN : Verdict.HELD;
			}
		},

		/** Acknowledges a store below a promise where something newer is. */
		STORE_SUPERSEDED {
			@Override
			Verdict store(Acceptor state, Version version) {
				return state.held().isNewerThan(version) ? Verdict.HELD : state.store(version);
			}
		},

		/** Accepts below a promise. */
		ACCEPT_BELOW {
			@Override
			Verdict accept(Acceptor state, Version version, Version base) {
				return version.isNewerThan(state.held()) ? Verdict.TAKEN
						: version.equals(state.held()) ? Verdict.HELD : Verdict.REFUSED;
			}
		},

		/** Acknowledges an accepted entry wherever something newer is. */
		ACCEPT_SUPERSEDED {
			@Override
			Verdict accept(Acceptor state, Version version, Version base) {
				return state.held().isNewerThan(version) ? Verdict.HELD : state.accept(version, base);
			}
		},

		/** Accepts over what the proposer has not seen. It shows nothing by itself. */
		ACCEPT_ON_ANYTHING {
			@Override
			Verdict accept(Acceptor state, Version version, Version base) {
				return state.accept(version, version);
			}
		},

		/** Stores repairs below a promise. */
		REPAIR_BELOW {
			@Override
			Verdict repair(Acceptor state, Version version) {
				return version.isNewerThan(state.held()) ? Verdict.TAKEN : Verdict.HELD;
			}
		};

		Verdict store(Acceptor state, Version version) {
			return state.store(version);
		}

		Verdict repair(Acceptor state, Version version) {
			return state.repair(version);
		}

		Verdict prepare(Acceptor state, Version ballot) {
			return state.prepare(ballot);
		}

		Verdict accept(Acceptor state, Version version, Version base) {
			return state.accept(version, base);
		}

	}

	private static final class Write<T> {

		private final Supplier<T> work;

		private final MonoSink<T> sink;

		private @Nullable T result;

		private boolean answered;

		Write(Supplier<T> work, MonoSink<T> sink) {
			this.work = work;
			this.sink = sink;
		}

		void run() {
			this.result = this.work.get();
		}

		void succeed() {
			if (!this.answered) {
				this.answered = true;
				this.sink.success(this.result);
			}
		}

		void fail(StorageException ex) {
			if (!this.answered) {
				this.answered = true;
				this.sink.error(ex);
			}
		}

	}

}
