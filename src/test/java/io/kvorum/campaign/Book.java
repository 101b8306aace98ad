package io.kvorum.campaign;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

import io.kvorum.campaign.KeyHistory.Seen;
import io.kvorum.testing.history.Operation;
import io.kvorum.testing.history.Operation.Outcome;
import io.kvorum.testing.history.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Account of all keys. Each is written for one generation, half a minute, then checked,
 * kept in short, read now and then, and checked again. Memory is bounded by the number of
 * keys kept: beyond it those go that were settled first. Safe for use by any thread.
 */
final class Book {

	static final long GENERATION_NANOS = 30_000_000_000L;

	private static final int MAX_KEPT = 200_000;

	private final Map<String, KeyHistory> live = new HashMap<>();

	private final Map<String, KeyHistory> kept = new LinkedHashMap<>();

	/** Those of the kept that are read now and then. */
	private final List<String> reread = new ArrayList<>();

	private final Map<String, Integer> outcomes = new TreeMap<>();

	private long checked;

	private static long generationOf(String key) {
		return Long.parseLong(key.substring(2, key.indexOf('/', 2)));
	}

	static String key(long now, int number) {
		return "c/%d/%d".formatted(now / GENERATION_NANOS, number);
	}

	/**
	 * Records an operation.
	 * @param etag the ETag that its client was told; empty without one
	 */
	synchronized void record(String key, Operation operation, String etag, String answer) {
		this.outcomes.merge(answer, 1, Integer::sum);
		KeyHistory history = this.kept.get(key);
		if (history == null) {
			history = this.live.computeIfAbsent(key, _ -> new KeyHistory());
		}
		history.add(operation, etag);
	}

	/**
	 * What a client was told last of a key that is written; null if it has no value, or
	 * that is not known.
	 */
	synchronized @Nullable Seen seen(String key) {
		KeyHistory history = this.live.get(key);
		return (history != null) ? history.seen() : null;
	}

	/** A key that is not written any more; null where there is none yet. */
	synchronized @Nullable String anOldKey(Random random) {
		String key = this.reread.isEmpty() ? null : this.reread.get(random.nextInt(this.reread.size()));
		return (key != null && this.kept.containsKey(key)) ? key : null;
	}

	/**
	 * Checks the keys whose generation is over, and those that were read since.
	 * @param horizon no operation under way began earlier
	 */
	synchronized Map<String, Violation> checkWhatIsOver(long horizon) {
		List<String> over = this.live.keySet()
			.stream()
			.filter(key -> (generationOf(key) + 1) * GENERATION_NANOS < horizon)
			.toList();
		over.forEach(key -> {
			KeyHistory history = this.live.remove(key);
			if (history != null) {
				this.kept.put(key, history);
				this.reread.add(key);
			}
		});
		Map<String, Violation> violations = check(this.kept, horizon);
		while (this.kept.size() > MAX_KEPT) {
			this.kept.remove(this.kept.keySet().iterator().next());
		}
		if (this.reread.size() > MAX_KEPT) {
			this.reread.subList(0, MAX_KEPT / 2).clear();
		}
		return violations;
	}

	/**
	 * Checks all, with what all replicas hold now. While no operation is under way.
	 * @param held values by key
	 * @param unclear keys of which that is not known
	 */
	synchronized Map<String, Violation> audit(Map<String, Integer> held, Set<String> unclear, long from, long to) {
		long answersChecked = this.checked + unchecked(this.live) + unchecked(this.kept);
		for (Map<String, KeyHistory> keys : List.of(this.live, this.kept)) {
			keys.forEach((key, history) -> {
				if (!unclear.contains(key)) {
					history.add(new Operation("replicas", Operation.Kind.GET, held.getOrDefault(key, Operation.ABSENT),
							Outcome.DONE, from, to), "");
				}
			});
		}
		Map<String, Violation> violations = check(this.live, to);
		violations.putAll(check(this.kept, to));
		this.checked = answersChecked;
		return violations;
	}

	private static long unchecked(Map<String, KeyHistory> keys) {
		return keys.values().stream().mapToLong(KeyHistory::unchecked).sum();
	}

	private Map<String, Violation> check(Map<String, KeyHistory> keys, long horizon) {
		Map<String, Violation> violations = new TreeMap<>();
		keys.forEach((key, history) -> {
			this.checked += history.unchecked();
			Violation violation = (history.unchecked() > 0) ? history.check(horizon) : null;
			if (violation != null) {
				violations.put(key, violation);
			}
		});
		return violations;
	}

	/** Operations checked, keys, and how often each answer was given. */
	synchronized String counts() {
		return "checked=%d keys=%d %s".formatted(this.checked, this.live.size() + this.kept.size(),
				this.outcomes.entrySet()
					.stream()
					.map(outcome -> outcome.getKey() + "=" + outcome.getValue())
					.reduce((one, other) -> one + " " + other)
					.orElse(""));
	}

}
