package io.kvorum.testing;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/** What ranges have to give. */
public final class SortedEntries {

	private final NavigableMap<String, RangeEntry> entries = new TreeMap<>(RangeEntry.BY_BYTES);

	public void put(String key, byte[] value) {
		this.entries.put(key, RangeEntry.of(key, value));
	}

	public void put(String key, RangeEntry entry) {
		this.entries.put(key, entry);
	}

	public List<String> keys() {
		return List.copyOf(this.entries.keySet());
	}

	public List<RangeEntry> all() {
		return List.copyOf(this.entries.values());
	}

	public int size() {
		return this.entries.size();
	}

	/** From start on, up to and without end. */
	public List<RangeEntry> between(String start, @Nullable String end) {
		Collection<RangeEntry> some = ((end != null) ? this.entries.subMap(start, true, end, false)
				: this.entries.tailMap(start, true))
			.values();
		return List.copyOf(some);
	}

	/** How what was got differs, in few words; empty where it does not. */
	public String differenceTo(List<RangeEntry> got) {
		if (all().equals(got)) {
			return "";
		}
		Set<RangeEntry> found = new HashSet<>(got);
		Set<RangeEntry> expected = new HashSet<>(all());
		Stream<String> missing = all().stream().filter(entry -> !found.contains(entry)).map(entry -> "no " + entry);
		Stream<String> surplus = got.stream().filter(entry -> !expected.contains(entry)).map(entry -> "has " + entry);
		List<String> differences = Stream.concat(missing, surplus).limit(10).toList();
		return differences.isEmpty() ? "not the same order or number" : String.join(", ", differences);
	}

}
