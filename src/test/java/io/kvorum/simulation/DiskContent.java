package io.kvorum.simulation;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.storage.Acceptor;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.PromiseRecord;
import io.kvorum.storage.TombstoneRecord;
import org.jspecify.annotations.Nullable;

/** What is on a disk, and the digests of it, which are in memory. */
final class DiskContent {

	private static final Comparator<EntryHeader> BY_AGE = Comparator.comparing(EntryHeader::version)
		.thenComparing(EntryHeader::key);

	final long identity;

	final Map<Key, Entry> entries = new HashMap<>();

	/** The highest ballots promised. */
	final Map<Key, Version> promises = new HashMap<>();

	/** Since when; those of tombstones that have been overwritten too. */
	private final TreeMap<EntryHeader, Long> tombstones = new TreeMap<>(BY_AGE);

	/** By the node they are for. */
	final Map<Long, Map<Key, Entry>> hints = new HashMap<>();

	final Map<String, byte[]> records = new HashMap<>();

	long boundMillis;

	/** Whether it was made by the node that has it open. */
	boolean isNew = true;

	private final int factor;

	private @Nullable Digests digests;

	/**
	 * An empty one.
	 * @param factor the replicas of a key by default
	 */
	DiskContent(long identity, int factor) {
		this.identity = identity;
		this.factor = factor;
	}

	/** All of it, as found by a node that starts with it. */
	DiskContent copy() {
		return restored(this.identity, this.records);
	}

	/** What is made of a backup of it: the disk of another life, with other records. */
	DiskContent restored(long identity, Map<String, byte[]> records) {
		DiskContent restored = new DiskContent(identity, this.factor);
		restored.entries.putAll(this.entries);
		restored.promises.putAll(this.promises);
		restored.tombstones.putAll(this.tombstones);
		this.hints.forEach((target, hints) -> restored.hints.put(target, new HashMap<>(hints)));
		restored.records.putAll(records);
		restored.boundMillis = this.boundMillis;
		restored.isNew = false;
		return restored;
	}

	/** Of those that are kept up to date from the first use on. */
	Digests digests() {
		if (this.digests == null) {
			this.digests = new Digests(this.factor);
			this.entries.forEach(this::toggle);
		}
		return this.digests;
	}

	void put(Key key, Entry entry, long nowMillis) {
		remove(key);
		this.entries.put(key, entry);
		toggle(key, entry);
		if (entry.lineage() != null) {
			promise(key, entry.version());
		}
		if (entry instanceof Tombstone) {
			this.tombstones.put(stubOf(key, entry), nowMillis);
		}
	}

	/** Keeps a promise, unless a higher one is there. */
	void promise(Key key, Version ballot) {
		this.promises.merge(key, ballot, (one, other) -> one.isNewerThan(other) ? one : other);
	}

	/** Those that are not told by the entry of their key. */
	List<PromiseRecord> promises() {
		return this.promises.entrySet()
			.stream()
			.filter(promise -> !isToldByEntry(promise.getKey(), promise.getValue()))
			.map(promise -> new PromiseRecord(promise.getKey(), promise.getValue()))
			.sorted(Comparator.comparing(PromiseRecord::key))
			.toList();
	}

	private boolean isToldByEntry(Key key, Version ballot) {
		Entry entry = this.entries.get(key);
		return entry != null && entry.lineage() != null && entry.version().equals(ballot);
	}

	Acceptor stateOf(Key key) {
		Entry there = this.entries.get(key);
		return new Acceptor((there != null) ? there.version() : Version.ABSENT,
				this.promises.getOrDefault(key, Version.ABSENT));
	}

	/** Makes a tombstone of an entry of that version. */
	boolean bury(Key key, Version version, long nowMillis) {
		Entry entry = this.entries.get(key);
		if (entry instanceof Live && entry.version().equals(version)) {
			put(key, new Tombstone(version, entry.copies(), entry.lineage()), nowMillis);
			return true;
		}
		return false;
	}

	boolean remove(Key key, Version version, long promisedBeforeMillis) {
		Entry entry = this.entries.get(key);
		if (entry != null && entry.version().equals(version)
				&& stateOf(key).promise().millis() >= promisedBeforeMillis) {
			return false;
		}
		this.tombstones.remove(new EntryHeader(key, version, 1, true));
		if (entry == null || !entry.version().equals(version)) {
			return false;
		}
		remove(key);
		return true;
	}

	private void remove(Key key) {
		Entry before = this.entries.remove(key);
		if (before != null) {
			toggle(key, before);
		}
	}

	private void toggle(Key key, Entry entry) {
		if (this.digests != null) {
			this.digests.toggle(RendezvousPlacement.hashOf(key), entry.version(), entry.copies());
		}
	}

	static EntryHeader stubOf(Key key, Entry entry) {
		return new EntryHeader(key, entry.version(), entry.copies(), entry instanceof Tombstone);
	}

	List<EntryHeader> headers(int partition) {
		return this.entries.entrySet()
			.stream()
			.filter(entry -> Partitions.ofHash(RendezvousPlacement.hashOf(entry.getKey())) == partition)
			.map(entry -> stubOf(entry.getKey(), entry.getValue()))
			.sorted(Comparator.comparing(EntryHeader::key))
			.toList();
	}

	List<TombstoneRecord> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit) {
		return ((after != null) ? this.tombstones.tailMap(after.header(), false) : this.tombstones).entrySet()
			.stream()
			.filter(tombstone -> tombstone.getKey().version().millis() < beforeMillis)
			.limit(limit)
			.map(tombstone -> new TombstoneRecord(tombstone.getKey(), tombstone.getValue()))
			.toList();
	}

}
