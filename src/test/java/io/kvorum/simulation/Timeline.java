package io.kvorum.simulation;

import java.util.PriorityQueue;

/** Virtual time: what is to happen, in the order of its instants. */
final class Timeline {

	private final PriorityQueue<Event> events = new PriorityQueue<>();

	private long now;

	private long scheduled;

	private boolean ended;

	/** Nanoseconds since the beginning. */
	long now() {
		return this.now;
	}

	void after(long nanos, Runnable task) {
		if (this.ended) {
			return;
		}
		this.events.add(new Event(this.now + Math.max(0, nanos), this.scheduled++, task));
	}

	/** Until nothing is left to happen. */
	void run() {
		for (Event next = this.events.poll(); next != null; next = this.events.poll()) {
			this.now = next.at;
			next.task.run();
		}
	}

	/** Lets nothing more happen, nor what the present event goes on to schedule. */
	void end() {
		this.ended = true;
		this.events.clear();
	}

	/** Of two at an instant the one scheduled first happens first. */
	private record Event(long at, long order, Runnable task) implements Comparable<Event> {

		@Override
		public int compareTo(Event other) {
			int byTime = Long.compare(this.at, other.at);
			return (byTime != 0) ? byTime : Long.compare(this.order, other.order);
		}

	}

}
