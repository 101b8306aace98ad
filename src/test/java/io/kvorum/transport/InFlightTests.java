package io.kvorum.transport;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.transport.TransportEvents.Call;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

class InFlightTests {

	private static PeerCall call(long deadlineNanos) {
		List<PeerCall> made = new ArrayList<>();
		Mono.<Reply>create(sink -> made
			.add(new PeerCall(Call.READ, Generator.key("k"), Version.ABSENT, deadlineNanos, 0, sink, null)))
			.subscribe();
		return made.getFirst();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4, 5, 7, 8, 1000 })
	void itTakesAsManyAsItMayAndEachHasACorrelationOfItsOwn(int max) {
		InFlight inFlight = new InFlight(max);
		Map<Integer, PeerCall> calls = new HashMap<>();
		while (!inFlight.isFull()) {
			PeerCall call = call(0);
			calls.put(inFlight.add(call), call);
		}
		assertThat(calls).hasSize(max);
		assertThat(inFlight.size()).isEqualTo(max);

		calls.forEach((correlation, call) -> assertThat(inFlight.remove(correlation)).isSameAs(call));
		assertThat(inFlight.size()).isZero();
		assertThat(inFlight.isFull()).isFalse();
	}

	@Test
	void aReplyThatComesTwiceOrTooLateFindsNobodyAndTakesNobodysPlace() {
		InFlight inFlight = new InFlight(1);
		int first = inFlight.add(call(0));
		assertThat(inFlight.remove(first)).isNotNull();
		assertThat(inFlight.remove(first)).isNull();

		PeerCall next = call(0);
		int second = inFlight.add(next);
		assertThat(inFlight.remove(first)).isNull();
		assertThat(inFlight.size()).isEqualTo(1);
		assertThat(inFlight.remove(second)).isSameAs(next);
	}

	@Test
	void whatWasNeverGivenFindsNobody() {
		InFlight inFlight = new InFlight(4);
		for (int correlation = -10; correlation < 10; correlation++) {
			assertThat(inFlight.remove(correlation)).isNull();
		}
		assertThat(inFlight.size()).isZero();
	}

	@Test
	void aSlotCanBeUsedMoreOftenThanAnIntCounts() {
		InFlight inFlight = new InFlight(1 << 20);
		PeerCall kept = call(0);
		int ofKept = inFlight.add(kept);
		PeerCall other = call(0);
		for (int i = 0; i < 10_000; i++) {
			assertThat(inFlight.remove(inFlight.add(other))).isSameAs(other);
		}

		assertThat(inFlight.remove(ofKept)).isSameAs(kept);
	}

	@Test
	void thoseThatAreOverdueAreHandedOutAndFreeTheirSlots() {
		InFlight inFlight = new InFlight(10);
		List<Integer> correlations = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			correlations.add(inFlight.add(call(i)));
		}
		List<Long> removed = new ArrayList<>();
		inFlight.removeIf(call -> call.deadlineNanos % 2 == 0, call -> removed.add(call.deadlineNanos));

		assertThat(removed).containsExactlyInAnyOrder(0L, 2L, 4L, 6L, 8L);
		assertThat(inFlight.size()).isEqualTo(5);
		for (int i = 0; i < 10; i++) {
			PeerCall call = inFlight.remove(correlations.get(i));
			assertThat(call != null).isEqualTo(i % 2 == 1);
		}
	}

	@Test
	void whoIsHandedOutMayBeginAnotherCallAtOnce() {
		InFlight inFlight = new InFlight(2);
		inFlight.add(call(1));
		inFlight.add(call(1));
		List<Integer> again = new ArrayList<>();
		inFlight.removeIf(call -> call.deadlineNanos == 1, _ -> again.add(inFlight.add(call(2))));

		assertThat(inFlight.size()).isEqualTo(2);
		assertThat(again).allMatch(correlation -> inFlight.remove(correlation) != null);
	}

	@SeededTest
	void itBehavesLikeAMap(long seed) {
		Generator random = new Generator(seed);
		int max = 1 + random.below(20);
		InFlight inFlight = new InFlight(max);
		Map<Integer, PeerCall> model = new HashMap<>();
		List<Integer> past = new ArrayList<>();
		for (int i = 0; i < 20_000; i++) {
			assertThat(inFlight.isFull()).isEqualTo(model.size() == max);
			if (random.chance(50) && !inFlight.isFull()) {
				PeerCall call = call(i);
				assertThat(model.put(inFlight.add(call), call)).isNull();
			}
			else if (random.chance(80) && !model.isEmpty()) {
				Integer correlation = random.oneOf(List.copyOf(model.keySet()));
				assertThat(inFlight.remove(correlation)).isSameAs(model.remove(correlation));
				past.add(correlation);
			}
			else if (!past.isEmpty()) {
				Integer correlation = random.oneOf(past);
				assertThat(inFlight.remove(correlation)).isSameAs(model.remove(correlation));
			}
			assertThat(inFlight.size()).isEqualTo(model.size());
		}
	}

}
