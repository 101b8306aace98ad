package io.kvorum.replication;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

import io.kvorum.cluster.Member;
import io.kvorum.coordination.ScriptedReplica;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ReplicaSetTests {

	private final List<ScriptedReplica> all = IntStream.range(0, 6)
		.mapToObj(index -> new ScriptedReplica(new Member(index, "http://node-" + index)))
		.toList();

	private ReplicaSet setOf(List<Integer> indexes) {
		List<Member> members = indexes.stream().map(index -> this.all.get(index).member()).toList();
		return ReplicaSet.of(members, 1, this.all.toArray(Replica[]::new));
	}

	private static List<Integer> order(ReplicaSet set) {
		return IntStream.range(0, set.size()).mapToObj(position -> set.at(position).member().index()).toList();
	}

	@Test
	void thisNodeIsFirstThenTheFastestAndWhoIsAwayIsLast() {
		this.all.get(4).isExpectedToTake(0);
		this.all.get(0).isAway();
		this.all.get(1).isExpectedToTake(900);
		this.all.get(5).isExpectedToTake(300);
		ReplicaSet set = setOf(List.of(0, 1, 4, 5));

		assertThat(order(set)).containsExactly(4, 5, 1, 0);
		assertThat(set.present()).isEqualTo(3);
	}

	@Test
	void amongEqualsTheOrderOfTheKeyStays() {
		this.all.forEach(replica -> replica.isExpectedToTake(5));

		assertThat(order(setOf(List.of(3, 0, 5, 1)))).containsExactly(3, 0, 5, 1);
	}

	@Test
	void whereAllAreAwayNobodyIsPresent() {
		this.all.forEach(ScriptedReplica::isAway);

		assertThat(setOf(List.of(2, 1)).present()).isZero();
		assertThat(order(setOf(List.of(2, 1)))).containsExactly(2, 1);
	}

	@SeededTest
	void theOrderIsThatOfAStableSort(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 500; i++) {
			List<Long> nanos = this.all.stream()
				.map(_ -> random.chance(20) ? Replica.AWAY : random.below(4))
				.map(Long::valueOf)
				.toList();
			this.all.forEach(replica -> replica.isExpectedToTake(nanos.get(replica.member().index())));
			ReplicaSet set = setOf(List.of(5, 3, 0, 2, 1, 4));

			assertThat(order(set))
				.isEqualTo(List.of(5, 3, 0, 2, 1, 4).stream().sorted(Comparator.comparing(nanos::get)).toList());
			assertThat(set.present()).isEqualTo(nanos.stream().filter(each -> each != Replica.AWAY).count());
		}
	}

	private ReplicaSet setOf(List<Integer> before, int required, List<Integer> after, int requiredAfter) {
		return ReplicaSet.ofBoth(before.stream().map(index -> this.all.get(index).member()).toList(), required,
				after.stream().map(index -> this.all.get(index).member()).toList(), requiredAfter,
				this.all.toArray(Replica[]::new));
	}

	@Test
	void inAChangeAReplicaOfBothListsIsThereOnce() {
		assertThat(order(setOf(List.of(0, 1, 2), 2, List.of(2, 3, 1), 2))).containsExactlyInAnyOrder(0, 1, 2, 3);
	}

	@Test
	void inAChangeACopyIsOnTheFirstReplicasOfEitherList() {
		this.all.get(3).isExpectedToTake(0);
		this.all.get(0).isExpectedToTake(9);
		ReplicaSet set = setOf(List.of(0, 1, 2), 2, List.of(3, 1, 4), 2);

		List<Integer> copies = IntStream.range(0, set.size())
			.filter(position -> set.isCopy(position, 2))
			.map(position -> set.at(position).member().index())
			.boxed()
			.toList();
		assertThat(copies).containsExactlyInAnyOrder(0, 1, 3);
	}

	@Test
	void inAChangeEnoughOfBothListsHaveToBePresent() {
		this.all.get(0).isAway();
		assertThat(setOf(List.of(0, 1, 2), 2, List.of(1, 2, 3), 2).isEnoughPresent()).isTrue();

		this.all.get(3).isAway();
		assertThat(setOf(List.of(0, 1, 2), 2, List.of(1, 2, 3), 2).isEnoughPresent()).isTrue();
		assertThat(setOf(List.of(0, 1, 2), 2, List.of(0, 2, 3), 2).isEnoughPresent()).isFalse();
	}

}
