package io.kvorum.campaign;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ScheduleTests {

	private static final int PHASES = 300;

	@Test
	void theSameSeedGivesTheSameFaults() {
		assertThat(episodes(7, 3)).isEqualTo(episodes(7, 3)).isNotEqualTo(episodes(8, 3));
	}

	@Test
	void noEpisodeBreaksARule() {
		both().forEach(episode -> {
			for (int i = 0; i < episode.size(); i++) {
				List<Injection> others = new ArrayList<>(episode);
				others.remove(i);
				assertThat(Rules.whyNot(episode.get(i), others)).as("%s", episode).isNull();
			}
		});
	}

	@Test
	void eachFaultIsDrawnAboutAsOftenAsItsWeightSays() {
		Map<Fault, Integer> drawn = new EnumMap<>(Fault.class);
		both().flatMap(List::stream).forEach(injection -> drawn.merge(injection.fault(), 1, Integer::sum));
		int weights = Stream.of(Fault.values()).mapToInt(fault -> fault.weight).sum();
		for (Fault fault : Fault.values()) {
			assertThat(drawn.get(fault)).as("%s", fault).isGreaterThan(2 * 7 * PHASES * fault.weight / weights);
		}
	}

	@Test
	void twoDisksAreNotLostInOneEpisodeAlsoNotOneAfterTheOther() {
		assertThat(whyNot(on(1, Fault.DISK_LOST, 0, 10), on(2, Fault.FLIP_IN_LOG, 20, 30))).contains("two disks");
		assertThat(whyNot(on(1, Fault.DISK_LOST, 0, 10), on(2, Fault.POWER_LOSS, 5, 30))).isNull();
	}

	@Test
	void anOldDiskAndAWrongClockDoNotMeet() {
		assertThat(whyNot(on(1, Fault.DISK_OLD, 0, 10), on(2, Fault.CLOCK_DRIFT, 0, 10))).contains("clocks");
		assertThat(whyNot(on(1, Fault.CLOCK_JUMP, 0, 10), on(2, Fault.DISK_OLD, 0, 10))).contains("clocks");
	}

	@Test
	void aMachineHasOneFaultAtATimeAndMayBeCutOffMeanwhile() {
		assertThat(whyNot(on(1, Fault.PAUSE, 0, 10), on(1, Fault.KILL, 5, 15))).contains("one machine");
		assertThat(whyNot(on(1, Fault.PAUSE, 0, 10), on(0, Fault.POWER_LOSS_ALL, 5, 15))).contains("one machine");
		assertThat(whyNot(on(1, Fault.PAUSE, 0, 10), on(1, Fault.KILL, 10, 15))).isNull();
		assertThat(whyNot(on(1, Fault.PAUSE, 0, 10), on(2, Fault.KILL, 0, 15))).isNull();
		assertThat(whyNot(on(1, Fault.PAUSE, 0, 10), on(1, Fault.CUT, 0, 15))).isNull();
	}

	@Test
	void aClockIsNotWrongByMoreThanIsPromised() {
		Injection far = new Injection(Fault.CLOCK_JUMP, 1, 0, 10, -Rules.MAX_CLOCK_MILLIS - 1, false);
		assertThat(Rules.whyNot(far, List.of())).contains("very wrong");
	}

	private static @Nullable String whyNot(Injection one, Injection other) {
		String why = Rules.whyNot(one, List.of(other));
		assertThat(Rules.whyNot(other, List.of(one))).isEqualTo(why);
		return why;
	}

	private static Injection on(int node, Fault fault, int from, int to) {
		return new Injection(fault, node, from, to, 0, false);
	}

	private static Stream<List<Injection>> both() {
		return Stream.concat(episodes(1, 3).stream(), episodes(2, 5).stream());
	}

	private static List<List<Injection>> episodes(long seed, int nodes) {
		Schedule schedule = new Schedule(seed, nodes);
		List<List<Injection>> episodes = new ArrayList<>(schedule.firstPhase());
		IntStream.range(0, PHASES).forEach(_ -> episodes.addAll(schedule.nextPhase()));
		return episodes;
	}

}
