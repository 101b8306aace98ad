package io.kvorum.observability;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * The memory of the whole process, of which the heap may be a third: what the operating
 * system goes by when it ends a process that has too much.
 */
final class MemoryMeters implements MeterBinder {

	private static final String RESIDENT = "VmRSS:";

	private final Path status;

	/**
	 * Creates the meters of a process.
	 * @param status the status file of Linux, {@code /proc/self/status}
	 */
	MemoryMeters(Path status) {
		this.status = status;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("kvorum.memory.resident", this, MemoryMeters::residentBytes)
			.description("Memory of the process: heap, buffers, caches, threads, code; NaN where that is not known")
			.baseUnit("bytes")
			.strongReference(true)
			.register(registry);
		Gauge.builder("kvorum.memory.limit", MemoryMeters::limitBytes)
			.description("Memory of the container, or of the machine where that has no limit")
			.baseUnit("bytes")
			.register(registry);
	}

	/** The resident memory. Blocks for microseconds; meters are read on no event loop. */
	double residentBytes() {
		try (Stream<String> lines = Files.lines(this.status)) {
			return lines.filter(line -> line.startsWith(RESIDENT))
				.mapToDouble(MemoryMeters::bytes)
				.findFirst()
				.orElse(Double.NaN);
		}
		catch (IOException _) {
			return Double.NaN;
		}
	}

	/** Parses a line such as {@code VmRSS:     123456 kB}. */
	private static double bytes(String line) {
		String kibibytes = line.substring(RESIDENT.length(), line.length() - "kB".length()).strip();
		return Long.parseLong(kibibytes) * 1024.0;
	}

	/** The JVM knows of the limits of containers. */
	private static double limitBytes() {
		return (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system)
				? system.getTotalMemorySize() : Double.NaN;
	}

}
