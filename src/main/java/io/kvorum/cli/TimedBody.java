package io.kvorum.cli;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The body of an answer, which is given up if nothing comes for long. The time limit of
 * the JDK's client ends with the headers.
 */
final class TimedBody extends FilterInputStream {

	private static final ScheduledThreadPoolExecutor ALARMS = alarms();

	private final Duration longest;

	private volatile boolean isGivenUp;

	/**
	 * Creates it.
	 * @param body one that another thread may close, which ends a read
	 * @param longest the longest time of a read
	 */
	TimedBody(InputStream body, Duration longest) {
		super(body);
		this.longest = longest;
	}

	private static ScheduledThreadPoolExecutor alarms() {
		ScheduledThreadPoolExecutor alarms = new ScheduledThreadPoolExecutor(1,
				Thread.ofPlatform().daemon().name("kvorum-timeouts").factory());
		alarms.setRemoveOnCancelPolicy(true);
		return alarms;
	}

	@Override
	public int read() throws IOException {
		byte[] one = new byte[1];
		return (read(one, 0, 1) < 0) ? -1 : Byte.toUnsignedInt(one[0]);
	}

	@Override
	public int read(byte[] bytes, int from, int length) throws IOException {
		Future<?> alarm = ALARMS.schedule(this::giveUp, this.longest.toNanos(), TimeUnit.NANOSECONDS);
		try {
			int read = super.read(bytes, from, length);
			requireInTime();
			return read;
		}
		catch (IOException ex) {
			requireInTime();
			throw ex;
		}
		finally {
			alarm.cancel(false);
		}
	}

	private void requireInTime() throws HttpTimeoutException {
		if (this.isGivenUp) {
			throw new HttpTimeoutException("no data for %d s".formatted(this.longest.toSeconds()));
		}
	}

	private void giveUp() {
		this.isGivenUp = true;
		try {
			close();
		}
		catch (IOException _) {
			// The read ends with what is told of it.
		}
	}

}
