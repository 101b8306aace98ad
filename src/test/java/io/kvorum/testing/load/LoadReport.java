package io.kvorum.testing.load;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What became of a load.
 *
 * @param violations histories of keys that are not linearizable
 * @param events what happened to connections, and is no failure, by what it is
 */
public record LoadReport(List<Phase> phases, List<String> violations, int keys, int operations,
		Map<String, Integer> events) {

	private static final int PRINTED_VIOLATIONS = 3;

	public int failed() {
		return this.phases.stream().mapToInt(Phase::failures).sum();
	}

	/** How many requests there were in a phase that were answered as they should. */
	public int answered(String phase) {
		return this.phases.stream().filter(it -> it.name.equals(phase)).mapToInt(Phase::answered).sum();
	}

	@Override
	public String toString() {
		return """
				%s
				%s
				failed: %d of %d; histories that are not linearizable: %d of %d%s
				%s""".formatted(Phase.header(),
				this.phases.stream().map(Phase::toString).collect(Collectors.joining("\n")), failed(), this.operations,
				this.violations.size(), this.keys,
				this.violations.stream()
					.limit(PRINTED_VIOLATIONS)
					.map(violation -> "\n" + violation)
					.collect(Collectors.joining()),
				new TreeMap<>(this.events).entrySet()
					.stream()
					.map(event -> event.getKey() + ": " + event.getValue())
					.collect(Collectors.joining("\n")));
	}

}
