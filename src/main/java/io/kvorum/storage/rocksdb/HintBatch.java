package io.kvorum.storage.rocksdb;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.HintLog;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** The changes of a batch to hints. Used by the committer's thread only. */
final class HintBatch {

	private final Database database;

	private final WriteBatch writes;

	private final Map<Place, HintState> states = new HashMap<>();

	/** The nodes whose hints this batch has removed; later changes still apply. */
	private final Set<Long> emptied = new HashSet<>();

	private final byte[] waiting = new byte[HintRow.WAITING_BYTES];

	HintBatch(Database database, WriteBatch writes) {
		this.database = database;
		this.writes = writes;
	}

	/**
	 * Adds a hint, which replaces an older one for the same node and key; false if the
	 * waiting one is as new or newer.
	 */
	boolean add(long target, Key key, Version version, byte[] entry) throws RocksDBException {
		HintState change = stateOf(target, key);
		if (!version.isNewerThan(change.version)) {
			return false;
		}
		if (change.isThere()) {
			this.writes.delete(this.database.hints, HintRow.data(target, change.version, key.bytes()));
		}
		this.writes.put(this.database.hints, HintRow.data(target, version, key.bytes()), entry);
		this.writes.put(this.database.hints, HintRow.key(target, key.bytes()), HintRow.waiting(version, entry.length));
		change.to(version, HintLog.bytes(key.bytes().length, entry.length));
		return true;
	}

	void remove(long target, Key key, Version version) throws RocksDBException {
		HintState change = stateOf(target, key);
		if (version.equals(change.version)) {
			this.writes.delete(this.database.hints, HintRow.data(target, version, key.bytes()));
			this.writes.delete(this.database.hints, HintRow.key(target, key.bytes()));
			change.to(Version.ABSENT, 0);
		}
	}

	void removeAll(long target) throws RocksDBException {
		this.writes.deleteRange(this.database.hints, HintRow.dataStart(target), HintRow.dataEnd(target));
		this.writes.deleteRange(this.database.hints, HintRow.keysStart(target), HintRow.keysEnd(target));
		this.states.keySet().removeIf(place -> place.target == target);
		this.emptied.add(target);
	}

	private HintState stateOf(long target, Key key) throws RocksDBException {
		Place place = new Place(target, key);
		HintState change = this.states.get(place);
		if (change == null) {
			change = this.emptied.contains(target) ? new HintState(Version.ABSENT, 0) : stored(place);
			this.states.put(place, change);
		}
		return change;
	}

	private HintState stored(Place place) throws RocksDBException {
		byte[] row = HintRow.key(place.target, place.key.bytes());
		int length = this.database.db.get(this.database.hints, this.database.fromAnywhere, row, 0, row.length,
				this.waiting, 0, this.waiting.length);
		return (length == RocksDB.NOT_FOUND) ? new HintState(Version.ABSENT, 0)
				: new HintState(HintRow.waitingVersion(this.waiting),
						HintLog.bytes(place.key.bytes().length, HintRow.waitingLength(this.waiting)));
	}

	void applyTo(HintCounts counts) {
		if (this.states.isEmpty() && this.emptied.isEmpty()) {
			return;
		}
		this.emptied.forEach(counts::emptied);
		// Additions first: a reader must not see that nothing waits while something does.
		this.states.forEach((place, change) -> change.addTo(counts, place.target));
		this.states.forEach((place, change) -> change.removeFrom(counts, place.target));
		counts.settle(this.database);
	}

	void clear() {
		this.states.clear();
		this.emptied.clear();
	}

	/** The identity of a hint. */
	private record Place(long target, Key key) {
	}

	/** The hint of a key before this batch and after it. */
	private static final class HintState {

		private final Version versionBefore;

		private final int bytesBefore;

		private Version version;

		private int bytes;

		HintState(Version version, int bytes) {
			this.versionBefore = version;
			this.bytesBefore = bytes;
			this.version = version;
			this.bytes = bytes;
		}

		boolean isThere() {
			return !this.version.equals(Version.ABSENT);
		}

		void to(Version version, int bytes) {
			this.version = version;
			this.bytes = bytes;
		}

		void addTo(HintCounts counts, long target) {
			if (isThere() && !this.version.equals(this.versionBefore)) {
				counts.added(target, this.version, this.bytes);
			}
		}

		void removeFrom(HintCounts counts, long target) {
			if (!this.versionBefore.equals(Version.ABSENT) && !this.version.equals(this.versionBefore)) {
				counts.removed(target, this.versionBefore, this.bytesBefore);
			}
		}

	}

}
