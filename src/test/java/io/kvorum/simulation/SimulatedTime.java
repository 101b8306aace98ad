package io.kvorum.simulation;

import io.kvorum.clock.TimeSource;
import io.kvorum.testing.SteeredTime;

/** The clocks of a machine: the wall clock is off, drifts and jumps. */
final class SimulatedTime implements TimeSource {

	private final Timeline timeline;

	/** What a second is taken for, in seconds. */
	private final double rate;

	private final long originNanos;

	private double offsetMillis;

	SimulatedTime(Timeline timeline, double offsetMillis, double rate, long originNanos) {
		this.timeline = timeline;
		this.offsetMillis = offsetMillis;
		this.rate = rate;
		this.originNanos = originNanos;
	}

	@Override
	public long millis() {
		return SteeredTime.START_MILLIS + (long) (this.timeline.now() / 1e6 * this.rate + this.offsetMillis);
	}

	@Override
	public long nanos() {
		return this.originNanos + (long) (this.timeline.now() * this.rate);
	}

	void jump(double millis) {
		this.offsetMillis += millis;
	}

	/** Sets the wall clock right. */
	void correct() {
		this.offsetMillis = this.timeline.now() / 1e6 * (1 - this.rate);
	}

}
