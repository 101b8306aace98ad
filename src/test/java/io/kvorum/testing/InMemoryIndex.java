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
import io.kvorum.storage.Grave;
import io.kvorum.storage.Stub;
import org.jspecify.annotations.Nullable;

/**
 * What a store knows of its entries by partition, for one that keeps them in memory: it
 * tells what it puts and removes. Guarded by its owner.
 */
public final class InMemoryIndex {

	private static final Comparator<Stub> BY_VERSION = Comparator.comparing(Stub::version).thenComparing(Stub::key);

	/** Of stores whose owner does not say. */
	private static final int FACTOR = 3;

	private final KeyHash hashes = RendezvousPlacement::hashOf;

	private final Digests digests = new Digests(FACTOR);

	private final Map<Integer, NavigableMap<Key, Stub>> partitions = new HashMap<>();

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
		Stub stub = new Stub(key, entry.version(), entry.copies(), entry instanceof Tombstone);
		partitionOf(key).put(key, stub);
		toggle(stub);
	}

	/** The key has no entry any more. */
	public void remove(Key key) {
		Stub stub = partitionOf(key).remove(key);
		if (stub != null) {
			toggle(stub);
		}
	}

	private void toggle(Stub stub) {
		this.digests.toggle(this.hashes.of(stub.key()), stub.version(), stub.copies());
	}

	private NavigableMap<Key, Stub> partitionOf(Key key) {
		return this.partitions.computeIfAbsent(Partitions.ofHash(this.hashes.of(key)), _ -> new TreeMap<>());
	}

	/** As {@link io.kvorum.storage.PartitionIndex#stubs(List, int, Deadline)}. */
	public List<List<Stub>> stubs(List<Integer> partitions, int enough) {
		List<List<Stub>> stubs = new ArrayList<>();
		int count = 0;
		for (int partition : partitions) {
			stubs.add(List.copyOf(this.partitions.getOrDefault(partition, new TreeMap<>()).values()));
			count += stubs.getLast().size();
			if (count >= enough) {
				break;
			}
		}
		return stubs;
	}

	/** As {@link io.kvorum.storage.PartitionIndex#graves}, there since ever. */
	public List<Grave> graves(@Nullable Grave after, long beforeMillis, int limit) {
		return this.partitions.values()
			.stream()
			.flatMap(partition -> partition.values().stream())
			.filter(Stub::tombstone)
			.filter(stub -> stub.version().millis() < beforeMillis)
			.filter(stub -> after == null || BY_VERSION.compare(stub, after.stub()) > 0)
			.sorted(BY_VERSION)
			.limit(limit)
			.map(stub -> new Grave(stub, 0))
			.toList();
	}

}
