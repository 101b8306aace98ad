package io.kvorum.app;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

class CacheSizesTests {

	@ParameterizedTest
	@CsvSource({ "256MB, 64MB, 64MB, 16MB", "512MB, 192MB, 64MB, 19MB", "1GB, 256MB, 128MB, 32MB",
			"4GB, 1GB, 512MB, 185MB", "16GB, 4GB, 2GB, 256MB", "1TB, 32GB, 2GB, 256MB" })
	void theyGrowWithMemoryAndHeapWithinBounds(DataSize memory, DataSize heap, DataSize blocks, DataSize rows) {
		assertThat(CacheSizes.of(memory.toBytes(), heap.toBytes())).isEqualTo(new CacheSizes(blocks, rows));
	}

}
