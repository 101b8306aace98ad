package io.kvorum.campaign.node;

import io.kvorum.clock.TimeSource;

/** A clock that is set and drifts; what measures durations is right, as on a machine. */
final class FaultyTime implements TimeSource {

	private final FaultFile file;

	FaultyTime(FaultFile file) {
		this.file = file;
	}

	@Override
	public long millis() {
		return this.file.clockMillis(TimeSource.SYSTEM.millis());
	}

	@Override
	public long nanos() {
		return TimeSource.SYSTEM.nanos();
	}

}
