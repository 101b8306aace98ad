package io.kvorum.simulation;

import java.util.function.Supplier;

/** What happened in a cluster, a line each. Costs nothing where nobody reads it. */
final class EventLog {

	private final Timeline timeline;

	private final StringBuilder lines = new StringBuilder();

	private final boolean kept;

	EventLog(Timeline timeline, boolean kept) {
		this.timeline = timeline;
		this.kept = kept;
	}

	void add(Supplier<String> line) {
		if (this.kept) {
			this.lines.append("%12.3f ms  %s%n".formatted(this.timeline.now() / 1e6, line.get()));
		}
	}

	@Override
	public String toString() {
		return this.lines.toString();
	}

}
