package io.kvorum.campaign.node;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/**
 * What is wrong with a node now, as a file says that is replaced as a whole: <pre>
 * clock.offset=20000       milliseconds that its clock is ahead
 * clock.drift=0.02         seconds that it gains each second
 * clock.since=1790000000000  when the drift began, by the right clock
 * delay.10.99.0.2=50       milliseconds that all from this address comes late
 * </pre>
 */
final class FaultFile {

	private static final long LOOK_MILLIS = 20;

	private final Path file;

	private volatile Properties now = new Properties();

	private FaultFile(Path file) {
		this.file = file;
	}

	static FaultFile watched(Path path) {
		FaultFile file = new FaultFile(path);
		file.read();
		Thread.ofPlatform().daemon().name("campaign-faults").start(file::watch);
		return file;
	}

	private void watch() {
		try {
			while (true) {
				// A thread of its own in the test build; a file has no event to wait for.
				Thread.sleep(LOOK_MILLIS);
				read();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void read() {
		Properties read = new Properties();
		try (Reader reader = Files.newBufferedReader(this.file)) {
			read.load(reader);
			if (!read.equals(this.now)) {
				this.now = read;
			}
		}
		catch (IOException ex) {
			throw new IllegalStateException("a campaign writes this file before it starts a node", ex);
		}
	}

	/** What the machine's clock shows at an instant of the right clock. */
	long clockMillis(long rightMillis) {
		Properties faults = this.now;
		double drift = Double.parseDouble(faults.getProperty("clock.drift", "0"));
		long since = Long.parseLong(faults.getProperty("clock.since", "0"));
		return rightMillis + Long.parseLong(faults.getProperty("clock.offset", "0"))
				+ (long) (drift * (rightMillis - since));
	}

	/** How late arrives what comes from an address, in milliseconds. */
	long delayMillis(String address) {
		return Long.parseLong(this.now.getProperty("delay." + address, "0"));
	}

}
