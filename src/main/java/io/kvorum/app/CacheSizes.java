package io.kvorum.app;

import java.lang.management.ManagementFactory;
import java.util.Map;

import com.sun.management.OperatingSystemMXBean;
import org.springframework.util.unit.DataSize;

/**
 * Sizes of the caches of a node that is told none: shares of the memory that it may use.
 * The smallest are those of a node in 512 MB.
 *
 * @param blocks outside the heap
 * @param rows in the heap
 */
record CacheSizes(DataSize blocks, DataSize rows) {

	/** An eighth of the memory of the machine, or of the limit of its container. */
	private static final int PART_OF_MEMORY = 8;

	private static final DataSize LEAST_BLOCKS = DataSize.ofMegabytes(64);

	private static final DataSize MOST_BLOCKS = DataSize.ofGigabytes(2);

	/** The heap that a node takes for all else. */
	private static final DataSize OTHER_HEAP = DataSize.ofMegabytes(96);

	/** A fifth of the rest: 19 MB of a heap of 192, 185 MB of one of 1 GB. */
	private static final int PART_OF_HEAP = 5;

	private static final DataSize LEAST_ROWS = DataSize.ofMegabytes(16);

	/** All of it is used from the start on. */
	private static final DataSize MOST_ROWS = DataSize.ofMegabytes(256);

	/**
	 * The sizes for a machine.
	 * @param memory in bytes
	 * @param heap its limit, in bytes
	 */
	static CacheSizes of(long memory, long heap) {
		return new CacheSizes(share(memory, PART_OF_MEMORY, LEAST_BLOCKS, MOST_BLOCKS),
				share(heap - OTHER_HEAP.toBytes(), PART_OF_HEAP, LEAST_ROWS, MOST_ROWS));
	}

	private static DataSize share(long of, int part, DataSize least, DataSize most) {
		return DataSize.ofMegabytes(
				Math.clamp(DataSize.ofBytes(of / part).toMegabytes(), least.toMegabytes(), most.toMegabytes()));
	}

	/** The sizes for this process. */
	static CacheSizes ofThisProcess() {
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		return of(system.getTotalMemorySize(), Runtime.getRuntime().maxMemory());
	}

	/** The sizes as defaults of properties. */
	Map<String, Object> toProperties() {
		return Map.of("kvorum.storage.cache-size", this.blocks.toMegabytes() + "MB", "kvorum.storage.row-cache-size",
				this.rows.toMegabytes() + "MB");
	}

}
