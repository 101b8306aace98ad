package io.kvorum.clock;

final class SystemTimeSource implements TimeSource {

	@Override
	public long millis() {
		return System.currentTimeMillis();
	}

	@Override
	public long nanos() {
		return System.nanoTime();
	}

}
