package io.kvorum.testing.load;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What became of the requests that were due in a time. On the thread of the load. */
final class Phase {

	private static final int SAMPLES = 3;

	final String name;

	private final long startNanos;

	private long endNanos;

	private int[] micros = new int[1024];

	private int answered;

	private final Map<String, Integer> failed = new TreeMap<>();

	private final StringBuilder samples = new StringBuilder();

	Phase(String name, long startNanos) {
		this.name = name;
		this.startNanos = startNanos;
	}

	void end(long nanos) {
		this.endNanos = nanos;
	}

	/** A request had its answer, so long after it was due. */
	void answered(long nanos) {
		if (this.answered == this.micros.length) {
			this.micros = Arrays.copyOf(this.micros, 2 * this.answered);
		}
		this.micros[this.answered++] = (int) Math.min(nanos / 1_000, Integer.MAX_VALUE);
	}

	/** A request has failed, in a way of which there are few. */
	void failed(String kind, long dueNanos, long now, String details) {
		int count = this.failed.merge(kind, 1, Integer::sum);
		if (count <= SAMPLES) {
			this.samples
				.append(String.format(Locale.ROOT, "    %s: due %.3f s after the phase began, failed %.0f ms later%s%n",
						kind, (dueNanos - this.startNanos) / 1e9, (now - dueNanos) / 1e6,
						details.isEmpty() ? "" : ", " + details));
		}
	}

	int answered() {
		return this.answered;
	}

	int failures() {
		return this.failed.values().stream().mapToInt(Integer::intValue).sum();
	}

	static String header() {
		return "%-34s %8s %10s %8s %9s %9s %9s".formatted("", "s", "requests", "failed", "p50 ms", "p99 ms", "most ms");
	}

	/** A line, and more where something failed. */
	@Override
	public String toString() {
		int[] sorted = Arrays.copyOf(this.micros, this.answered);
		Arrays.sort(sorted);
		String line = String.format(Locale.ROOT, "%-34s %8.1f %10d %8d %9.2f %9.2f %9.2f", this.name,
				(this.endNanos - this.startNanos) / 1e9, this.answered + failures(), failures(), at(sorted, 50),
				at(sorted, 99), at(sorted, 100));
		return this.failed.isEmpty() ? line
				: line + "\n    " + this.failed + "\n" + this.samples.toString().stripTrailing();
	}

	private static double at(int[] sorted, int percent) {
		return (sorted.length == 0) ? Double.NaN
				: sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)] / 1e3;
	}

}
