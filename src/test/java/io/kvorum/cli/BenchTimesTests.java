package io.kvorum.cli;

import java.util.List;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BenchTimesTests {

	@Test
	void theSlowestIsKnownThoughItsTimeIsNotKept() {
		BenchTimes few = new BenchTimes(1);
		few.answered(7_000_000_000L);
		LongStream.rangeClosed(1, 10_000).forEach(few::answered);
		BenchTimes none = new BenchTimes(0);
		none.answered(9_000_000_000L);
		none.answered(1);

		assertThat(few.count()).isEqualTo(10_001);
		assertThat(few.kept().toArray()).hasSize(1);
		assertThat(few.slowest()).isEqualTo(7_000_000_000L);
		assertThat(BenchTimes.slowest(List.of(few, none))).isEqualTo(9_000_000_000L);
	}

}
