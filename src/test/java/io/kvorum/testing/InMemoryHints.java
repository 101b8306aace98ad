package io.kvorum.testing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Hint;
import io.kvorum.storage.HintLog;
import reactor.core.publisher.Mono;

/** Hints without a disk. */
public class InMemoryHints implements HintLog {

	private static final Comparator<Hint> BY_VERSION = Comparator.comparing((Hint hint) -> hint.entry().version())
		.thenComparing(Hint::key);

	/** By node and key; guarded by this. */
	private final Map<Long, Map<Key, Hint>> hints = new HashMap<>();

	@Override
	public Mono<Boolean> add(long target, Key key, Entry entry) {
		return Mono.fromSupplier(() -> addNow(new Hint(target, key, entry)));
	}

	private synchronized boolean addNow(Hint hint) {
		Map<Key, Hint> of = this.hints.computeIfAbsent(hint.target(), _ -> new TreeMap<>());
		Hint there = of.get(hint.key());
		if (there != null && !hint.entry().version().isNewerThan(there.entry().version())) {
			return false;
		}
		of.put(hint.key(), hint);
		return true;
	}

	@Override
	public Mono<List<Hint>> oldest(long target, int maxBytes, int maxItems, Deadline deadline) {
		return Mono.fromSupplier(() -> oldestNow(target, maxBytes, maxItems));
	}

	private synchronized List<Hint> oldestNow(long target, int maxBytes, int maxItems) {
		List<Hint> oldest = new ArrayList<>();
		int bytes = 0;
		for (Hint hint : ordered(target)) {
			if (bytes >= maxBytes || oldest.size() >= maxItems) {
				break;
			}
			oldest.add(hint);
			bytes += bytesOf(hint);
		}
		return oldest;
	}

	private List<Hint> ordered(long target) {
		return this.hints.getOrDefault(target, Map.of()).values().stream().sorted(BY_VERSION).toList();
	}

	private static int bytesOf(Hint hint) {
		return EntryFormat.encode(hint.key(), hint.entry()).length;
	}

	@Override
	public Mono<Void> remove(Hint hint) {
		return Mono.fromRunnable(() -> removeNow(hint));
	}

	private synchronized void removeNow(Hint hint) {
		Map<Key, Hint> of = this.hints.getOrDefault(hint.target(), Map.of());
		Hint there = of.get(hint.key());
		if (there != null && there.entry().version().equals(hint.entry().version())) {
			of.remove(hint.key());
		}
	}

	@Override
	public Mono<Void> removeAll(long target) {
		return Mono.fromRunnable(() -> removeAllNow(target));
	}

	private synchronized void removeAllNow(long target) {
		this.hints.remove(target);
	}

	@Override
	public synchronized Waiting waiting(long target) {
		List<Hint> all = ordered(target);
		return all.isEmpty() ? Waiting.NONE
				: new Waiting(all.size(),
						all.stream().mapToLong(hint -> HintLog.bytes(hint.key().bytes().length, bytesOf(hint))).sum(),
						all.getFirst().entry().version().millis());
	}

	@Override
	public synchronized Set<Long> targets() {
		return this.hints.entrySet()
			.stream()
			.filter(of -> !of.getValue().isEmpty())
			.map(Map.Entry::getKey)
			.collect(Collectors.toUnmodifiableSet());
	}

}
