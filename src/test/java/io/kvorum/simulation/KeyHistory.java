package io.kvorum.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Kind;
import io.kvorum.testing.history.Operation.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * What clients were told of a key, and what they may not be told whatever goes wrong:
 * beside what is linearizable, or where that is not promised.
 */
final class KeyHistory {

	static final String CAME_BACK = "A deleted value came back";

	static final String LOST = "An acknowledged write is lost";

	static final String NOT_GROWN = "The ETag of a conditional write is not greater than one before it";

	/**
	 * After which an acknowledged write is everywhere, if nothing goes wrong meanwhile.
	 */
	private static final long CONVERGED_NANOS = 60_000_000_000L;

	private final Key key;

	/** Whether some values expire. */
	private final boolean expires;

	/** Whether operations ask for all kinds of copies. */
	private final boolean eventual;

	private final SimulatedCluster cluster;

	/**
	 * By how much the instant of an expiry, which is of the version and so of the clock
	 * of the node that took the put, may differ from that at which it is judged, by the
	 * clock of the one that is asked.
	 */
	private final long uncertainNanos;

	private final List<Told> told = new ArrayList<>();

	KeyHistory(Key key, boolean expires, boolean eventual, SimulatedCluster cluster, long uncertainMillis) {
		this.key = key;
		this.expires = expires;
		this.eventual = eventual;
		this.cluster = cluster;
		this.uncertainNanos = Duration.ofMillis(uncertainMillis).toNanos();
	}

	boolean isLinearizable() {
		return !this.eventual;
	}

	/** What clients were told, with the time in which each value expires. */
	List<Operation> operations() {
		return this.told.stream().map(this::expiring).toList();
	}

	private Operation expiring(Told told) {
		if (told.ttl == null) {
			return told.operation;
		}
		// A put whose end nobody knows has got its version by the deadline of its last
		// request.
		long givenBy = told.operation.endedAt()
				+ ((told.operation.outcome() == Outcome.UNKNOWN) ? this.cluster.longestWrite().toNanos() : 0);
		long ttlNanos = told.ttl.duration().toNanos();
		return told.operation.expiring(told.operation.invokedAt() + ttlNanos - this.uncertainNanos,
				givenBy + ttlNanos + this.uncertainNanos);
	}

	/**
	 * What is left of it once all nodes are as they were at some instant, or at any later
	 * one: a write that ended since may be found or not, and what was read since counts
	 * for nothing.
	 */
	static Stream<Operation> rewound(Operation told, long since) {
		if (told.endedAt() < since || told.outcome() == Outcome.NOT_APPLIED) {
			return Stream.of(told);
		}
		return (told.kind() == Kind.GET || told.outcome() == Outcome.NOT_MET) ? Stream.empty()
				: Stream.of(new Operation(told.client(), told.kind(), told.value(), Outcome.UNKNOWN, told.invokedAt(),
						told.endedAt())
					.provided(told.condition()));
	}

	/** As {@link #rewound} has it. */
	void rewind(long since) {
		List<Told> left = this.told.stream()
			.flatMap(each -> rewound(each.operation, since)
				.map(operation -> new Told(operation, each.version, each.ttl)))
			.toList();
		this.told.clear();
		this.told.addAll(left);
	}

	/** What may not be. */
	List<String> faults(boolean disksWereLost) {
		List<String> faults = new ArrayList<>();
		for (Told get : this.told) {
			if (get.operation.kind() == Kind.GET && get.operation.outcome() == Outcome.DONE) {
				faultsOf(get, disksWereLost, faults);
			}
		}
		if (!this.eventual) {
			faults.addAll(notGrown(this.key, this.told));
		}
		return faults;
	}

	/**
	 * What is wrong with the newest entry that there is in the end, if no disk was lost.
	 */
	@Nullable String lost(@Nullable Version newest) {
		return lost(this.key, this.told, newest);
	}

	/** Nothing has to be left of what ends by itself or by a delete. */
	static @Nullable String lost(Key key, List<Told> told, @Nullable Version newest) {
		Told last = told.stream()
			.filter(write -> write.isAcknowledgedWrite() && write.version != null)
			.max(Comparator.comparing(Told::requiredVersion))
			.orElse(null);
		if (last == null) {
			return null;
		}
		boolean mayBeGone = last.mayEnd()
				|| told.stream().anyMatch(write -> write.mayEnd() && write.operation.outcome() == Outcome.UNKNOWN);
		boolean isLost = (newest != null) ? last.requiredVersion().isNewerThan(newest) : !mayBeGone;
		return isLost ? "%s: k%d, version %s of %s, and there is %s".formatted(LOST, key.bytes()[0], last.version,
				last.operation, newest) : null;
	}

	/** Of the writes with conditions. */
	static List<String> notGrown(Key key, List<Told> told) {
		return told.stream()
			.filter(write -> write.operation.condition() != null && write.isAcknowledgedWrite())
			.flatMap(write -> told.stream()
				.filter(earlier -> earlier.operation.endedAt() < write.operation.invokedAt())
				.filter(earlier -> write.version != null && earlier.version != null
						&& !write.version.isNewerThan(earlier.version))
				.map(earlier -> "%s: k%d, %s of %s after %s of %s".formatted(NOT_GROWN, key.bytes()[0], write.version,
						write.operation, earlier.version, earlier.operation))
				.limit(1))
			.toList();
	}

	private void faultsOf(Told get, boolean disksWereLost, List<String> faults) {
		boolean found = get.operation.value() != Operation.ABSENT;
		boolean isLast = get.operation.client().startsWith("last") || get.operation.client().startsWith("final");
		if (found && (!this.eventual || (isLast && !disksWereLost))) {
			Version version = this.cluster.versionOf(get.operation.value());
			this.told.stream()
				.filter(delete -> delete.operation.kind() == Kind.DELETE && delete.isBefore(get))
				.filter(delete -> delete.version != null && delete.version.isNewerThan(version))
				.filter(delete -> !this.eventual || delete.isLongBefore(get))
				.findFirst()
				.ifPresent(delete -> faults.add("%s: k%d, version %s of %s, deleted by %s at %s".formatted(CAME_BACK,
						this.key.bytes()[0], Values.text(version), get.operation, delete.version, delete.operation)));
		}
	}

	record Told(Operation operation, @Nullable Version version, @Nullable Ttl ttl) {

		Told {
			// That of a key without a value says nothing.
			version = Version.ABSENT.equals(version) ? null : version;
		}

		boolean isAcknowledgedWrite() {
			return this.operation.kind() != Kind.GET && this.operation.outcome() == Outcome.DONE;
		}

		Version requiredVersion() {
			return Objects.requireNonNull(this.version);
		}

		/** It leaves no value, or not for ever. */
		boolean mayEnd() {
			return this.operation.kind() == Kind.DELETE || this.ttl != null;
		}

		/** It was acknowledged before the other one began. */
		boolean isBefore(Told other) {
			return this.operation.outcome() == Outcome.DONE && this.operation.endedAt() < other.operation.invokedAt();
		}

		/** So long that all replicas must have it. */
		boolean isLongBefore(Told other) {
			return this.operation.endedAt() + CONVERGED_NANOS < other.operation.invokedAt();
		}

	}

	/** What clients ask for of the keys of a history. */
	static final class Habitual implements Habits {

		private static final int MOST_SECONDS = 30;

		private final Map<Key, KeyHistory> keys;

		/** What is asked for of keys without unusual copies. */
		private final MixedHabits mixed;

		private boolean onlyReads;

		Habitual(Map<Key, KeyHistory> keys, Mix mix) {
			this.keys = keys;
			this.mixed = new MixedHabits(mix);
		}

		private KeyHistory of(Key key) {
			KeyHistory history = this.keys.get(key);
			if (history == null) {
				throw new IllegalArgumentException("a key of no history");
			}
			return history;
		}

		@Override
		public @Nullable Replicas asked(Key key, Chance chance) {
			if (!of(key).eventual || chance.of(0.3)) {
				return null;
			}
			int from = 1 + chance.below(of(key).cluster.nodes().size());
			return new Replicas(1 + chance.below(from), from);
		}

		/**
		 * A put that happens unless the key has changed since the client was told of it.
		 */
		Intent exchange(Key key) {
			return this.mixed.exchange(key);
		}

		/** From now on nothing is written. */
		void onlyRead() {
			this.onlyReads = true;
		}

		@Override
		public @Nullable Intent next(Key key, Chance chance) {
			if (this.onlyReads) {
				return Intent.to(Kind.GET);
			}
			if (this.mixed.writesOnConditions() && !of(key).eventual) {
				return this.mixed.next(key, chance);
			}
			return chance.of(0.15) ? Intent.to(Kind.DELETE) : null;
		}

		@Override
		public @Nullable Ttl ttl(Key key, Chance chance) {
			return (of(key).expires && chance.of(0.7)) ? new Ttl(Duration.ofSeconds(1 + chance.below(MOST_SECONDS)))
					: null;
		}

		@Override
		public void told(Key key, Operation operation, @Nullable Version version, @Nullable Ttl ttl) {
			of(key).told.add(new Told(operation, version, ttl));
			this.mixed.told(key, operation, version, ttl);
		}

	}

}
