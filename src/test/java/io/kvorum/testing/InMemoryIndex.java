package io.kvorum.testing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyHash;
import io.kvorum.kv.Partitions;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.TombstoneRecord;
import org.jspecify.annotations.Nullable;

/**
 * What a store knows of its entries by partition, for one that keeps them in memory: it
 * tells what it puts and removes. Guarded by its owner.
 */
public final class InMemoryIndex {

	private static final Comparator<EntryHeader> BY_VERSION = Comparator.comparing(EntryHeader::version)
		.thenComparing(EntryHeader::key);

	/** Of stores whose owner does not say. */
	private static final int FACTOR = 3;

	private final KeyHash hashes = RendezvousPlacement::hashOf;

	private final Digests digests = new Digests(FACTOR);

	private final Map<Integer, NavigableMap<Key, EntryHeader>> partitions = new HashMap<>();

	public InMemoryIndex() {
		this.digests.completed();
	}

	public KeyHash keyHash() {
		return this.hashes;
	}

	public Digests digests() {
		return this.digests;
	}

	/** The entry is now the one of this key. */
	public void put(Key key, Entry entry) {
		remove(key);
		EntryHeader header = new EntryHeader(key, entry.version(), entry.copies(), entry instanceof Tombstone);
		partitionOf(key).put(key, header);
		toggle(header);
	}

	/** The key has no entry any more. */
	public void remove(Key key) {
		EntryHeader header = partitionOf(key).remove(key);
		if (header != null) {
			toggle(header);
		}
	}

	private void toggle(EntryHeader header) {
		this.digests.toggle(this.hashes.of(header.key()), header.version(), header.copies());
	}

	private NavigableMap<Key, EntryHeader> partitionOf(Key key) {
		return this.partitions.computeIfAbsent(Partitions.ofHash(this.hashes.of(key)), _ -> new TreeMap<>());
	}

	/** As {@link io.kvorum.storage.PartitionIndex#headers(List, int, Deadline)}. */
	public List<List<EntryHeader>> headers(List<Integer> partitions, int enough) {
		List<List<EntryHeader>> headers = new ArrayList<>();
		int count = 0;
		for (int partition : partitions) {
			headers.add(List.copyOf(this.partitions.getOrDefault(partition, new TreeMap<>()).values()));
			count += headers.getLast().size();
			if (count >= enough) {
				break;
			}
		}
		return headers;
	}

	/** As {@link io.kvorum.storage.PartitionIndex#tombstones}, there since ever. */
	public List<TombstoneRecord> tombstones(@Nullable TombstoneRecord after, long beforeMillis, int limit) {
		return this.partitions.values()
			.stream()
			.flatMap(partition -> partition.values().stream())
			.filter(EntryHeader::tombstone)
			.filter(header -> header.version().millis() < beforeMillis)
			.filter(header -> after == null || BY_VERSION.compare(header, after.header()) > 0)
			.sorted(BY_VERSION)
			.limit(limit)
			.map(header -> new TombstoneRecord(header, 0))
			.toList();
	}

}
