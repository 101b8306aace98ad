package io.kvorum.kv;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The history of an entry that was stored under a ballot. It tells which write the entry
 * is, and what that write replaced.
 * <p>
 * The version of such an entry is the ballot. If another node proposes the entry again
 * under a higher ballot, its version grows and its identity stays. So a coordinator that
 * lost sight of its write finds it again, also below later writes.
 *
 * @param identity the version that the write was given first, which is its ETag
 * @param isConditional whether the write had a condition
 * @param isProposedAgain whether the entry was proposed again after its first ballot
 * @param ancestors the entries that it was made from, the nearest first; 1 to
 * {@value #MAX_ANCESTORS}. The list ends at an entry without a lineage, or when it is
 * full.
 */
public record Lineage(Version identity, boolean isConditional, boolean isProposedAgain, List<Ancestor> ancestors) {

	/** The most ancestors that an entry remembers. */
	public static final int MAX_ANCESTORS = 4;

	private static final Ancestor NOTHING = new Ancestor(Version.ABSENT, Version.ABSENT);

	public Lineage {
		ancestors = List.copyOf(ancestors);
		if (ancestors.isEmpty() || ancestors.size() > MAX_ANCESTORS) {
			throw new IllegalArgumentException(
					"an entry has 1 to %d ancestors, not %d".formatted(MAX_ANCESTORS, ancestors.size()));
		}
	}

	/** The lineage of a new entry that replaces this one; null if there is none. */
	public static Lineage of(Version identity, boolean isConditional, @Nullable Entry replaced) {
		return new Lineage(identity, isConditional, false, on(replaced));
	}

	/** The lineage of an entry that is proposed again, on top of itself. */
	static Lineage again(Entry entry) {
		Lineage lineage = entry.lineage();
		return new Lineage(entry.identity(), lineage != null && lineage.isConditional(), true, on(entry));
	}

	/**
	 * Whether the ancestors go back to an entry without a lineage: to a write without a
	 * condition, or to none. A full list may go on behind its end.
	 */
	public boolean isWhole() {
		return this.ancestors.size() < MAX_ANCESTORS;
	}

	private static List<Ancestor> on(@Nullable Entry replaced) {
		if (replaced == null) {
			return List.of(NOTHING);
		}
		List<Ancestor> ancestors = new ArrayList<>(MAX_ANCESTORS);
		ancestors.add(new Ancestor(replaced.version(), replaced.identity()));
		Lineage lineage = replaced.lineage();
		if (lineage != null) {
			for (Ancestor ancestor : lineage.ancestors()) {
				// One write counts once, however often it was proposed.
				if (ancestors.size() < MAX_ANCESTORS && !ancestor.identity().equals(replaced.identity())) {
					ancestors.add(ancestor);
				}
			}
		}
		return ancestors;
	}

	/**
	 * An entry that a later one was made from.
	 *
	 * @param version the version that it had then; {@link Version#ABSENT} if there was no
	 * entry
	 * @param identity as in {@link Lineage}
	 */
	public record Ancestor(Version version, Version identity) {
	}

}
