package io.kvorum.simulation;

import java.util.Objects;
import java.util.function.LongFunction;
import java.util.stream.LongStream;

import org.jspecify.annotations.Nullable;

/** Looks for a history that shows a mutant, on all cores. */
final class MutantSearch {

	/** Histories that run before it is asked whether one of them has shown it. */
	private static final int AT_ONCE = 10;

	private MutantSearch() {
	}

	/**
	 * Fails where none of the histories shows it. The first that does, in the order of
	 * their seeds, is printed.
	 * @param fault of the history of a seed: what has shown the mutant; null for nothing
	 */
	static void assertFound(Object mutant, long first, int histories, LongFunction<@Nullable String> fault) {
		for (long from = first; from < first + histories; from += AT_ONCE) {
			String found = LongStream.range(from, Math.min(from + AT_ONCE, first + histories))
				.parallel()
				.mapToObj(seed -> {
					String shown = fault.apply(seed);
					return (shown != null)
							? "caught by history %d: %s".formatted(seed, shown.lines().findFirst().orElse("")) : null;
				})
				.filter(Objects::nonNull)
				.findFirst()
				.orElse(null);
			if (found != null) {
				System.out.printf("%-60s %s%n", mutant, found);
				return;
			}
		}
		throw new AssertionError(mutant + " shows nothing in " + histories + " histories");
	}

	/** The fault, where it has one of these marks. */
	static @Nullable String having(@Nullable String fault, Iterable<String> marks) {
		if (fault != null) {
			for (String mark : marks) {
				if (fault.contains(mark)) {
					return fault;
				}
			}
		}
		return null;
	}

}
