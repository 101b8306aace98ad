package io.kvorum.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The number that Linux gives each run of itself. */
final class BootId {

	private static final Path FILE = Path.of("/proc/sys/kernel/random/boot_id");

	private BootId() {
	}

	/** Empty where the system has none. */
	static String read() {
		try {
			return Files.readString(FILE).strip();
		}
		catch (IOException _) {
			return "";
		}
	}

}
