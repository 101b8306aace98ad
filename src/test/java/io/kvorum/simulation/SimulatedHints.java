package io.kvorum.simulation;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.storage.Hint;
import io.kvorum.storage.HintLog;
import reactor.core.publisher.Mono;

/** The hints on a simulated disk. */
final class SimulatedHints implements HintLog {

	private static final long BYTES = 4;

	private final SimulatedNode node;

	private final SimulatedDisk disk;

	SimulatedHints(SimulatedNode node) {
		this.node = node;
		this.disk = node.disk();
	}

	private Map<Key, Entry> of(long target) {
		return this.disk.content().hints.getOrDefault(target, Map.of());
	}

	@Override
	public Mono<Boolean> add(long target, Key key, Entry entry) {
		return this.disk.write(() -> {
			Map<Key, Entry> hints = this.disk.content().hints.computeIfAbsent(target, _ -> new HashMap<>());
			Entry there = hints.get(key);
			if (there != null && !entry.version().isNewerThan(there.version())) {
				return false;
			}
			hints.put(key, entry);
			this.node.log(() -> "keeps a hint of k%d %s".formatted(key.bytes()[0], Values.text(entry)));
			return true;
		});
	}

	@Override
	public Mono<List<Hint>> oldest(long target, int maxBytes, int maxItems, Deadline deadline) {
		return this.disk.lookUp(() -> of(target).entrySet()
			.stream()
			.map(hint -> new Hint(target, hint.getKey(), hint.getValue()))
			.sorted(Comparator.comparing((Hint hint) -> hint.entry().version()).thenComparing(Hint::key))
			.limit(maxItems)
			.toList());
	}

	@Override
	public Mono<Void> remove(Hint hint) {
		return this.disk.write(() -> {
			Map<Key, Entry> hints = this.disk.content().hints.getOrDefault(hint.target(), new HashMap<>());
			Entry there = hints.get(hint.key());
			if (there != null && there.version().equals(hint.entry().version())) {
				hints.remove(hint.key());
			}
			return true;
		}).then();
	}

	@Override
	public Mono<Void> removeAll(long target) {
		return this.disk.write(() -> this.disk.content().hints.remove(target) != null).then();
	}

	@Override
	public Waiting waiting(long target) {
		Map<Key, Entry> hints = of(target);
		return hints.isEmpty() ? Waiting.NONE : new Waiting(hints.size(), BYTES * hints.size(),
				hints.values().stream().mapToLong(entry -> entry.version().millis()).min().orElseThrow());
	}

	@Override
	public Set<Long> targets() {
		return this.disk.content().hints.entrySet()
			.stream()
			.filter(hints -> !hints.getValue().isEmpty())
			.map(Map.Entry::getKey)
			.collect(Collectors.toSet());
	}

}
