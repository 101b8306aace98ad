package io.kvorum.observability;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import io.kvorum.coordination.CoordinationEvents;
import io.kvorum.coordination.Repeat;
import io.kvorum.operation.Operation;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;

/** Meters of operations on keys. */
final class ReplicationMeters implements CoordinationEvents {

	private static final String HEDGES = "Reads whose first replicas took long: one more was asked (yes), or no budget was left (no)";

	private static final String REPAIRS = "Replicas that a read found behind: repaired in the background (no), or left out as too many waited (yes)";

	private final Map<Operation, Map<Consistency, Map<Outcome, Counter>>> decided = new EnumMap<>(Operation.class);

	private final Counter hedged;

	private final Counter notHedged;

	private final Counter wroteBack;

	private final Counter repairing;

	private final Counter repairDropped;

	private final DistributionSummary ballots;

	private final Counter refusedByPromise;

	private final Counter settled;

	private final Map<Repeat, Counter> idempotent = new EnumMap<>(Repeat.class);

	ReplicationMeters(MeterRegistry registry) {
		for (Operation operation : Operation.values()) {
			Map<Consistency, Map<Outcome, Counter>> ofOperation = new EnumMap<>(Consistency.class);
			for (Consistency consistency : Consistency.values()) {
				Map<Outcome, Counter> ofConsistency = new EnumMap<>(Outcome.class);
				for (Outcome outcome : Outcome.values()) {
					ofConsistency.put(outcome, decided(operation, consistency, outcome, registry));
				}
				ofOperation.put(consistency, ofConsistency);
			}
			this.decided.put(operation, ofOperation);
		}
		this.hedged = Counter.builder("kvorum.replication.hedges")
			.tag("made", "yes")
			.description(HEDGES)
			.register(registry);
		this.notHedged = Counter.builder("kvorum.replication.hedges")
			.tag("made", "no")
			.description(HEDGES)
			.register(registry);
		this.wroteBack = Counter.builder("kvorum.replication.write.backs")
			.description("Reads that stored the newest entry on more replicas before they answered")
			.register(registry);
		this.repairing = Counter.builder("kvorum.replication.repairs")
			.tag("dropped", "no")
			.description(REPAIRS)
			.register(registry);
		this.repairDropped = Counter.builder("kvorum.replication.repairs")
			.tag("dropped", "yes")
			.description(REPAIRS)
			.register(registry);
		this.ballots = DistributionSummary.builder("kvorum.replication.ballots")
			.description("Ballots of each write with a condition; 0 if replicas answered without any")
			.register(registry);
		this.refusedByPromise = refused("write", registry);
		this.settled = refused("read", registry);
		for (Repeat repeat : Repeat.values()) {
			this.idempotent.put(repeat,
					Counter.builder("kvorum.replication.idempotent")
						.tag("found", text(repeat))
						.description("Writes with an Idempotency-Key, by what was found of an earlier request")
						.register(registry));
		}
	}

	private static Counter refused(String operation, MeterRegistry registry) {
		return Counter.builder("kvorum.replication.promises.met")
			.tag("operation", operation)
			.description(
					"Reads, and writes without a condition, that a promise refused and that went on under a ballot")
			.register(registry);
	}

	private static Counter decided(Operation operation, Consistency consistency, Outcome outcome,
			MeterRegistry registry) {
		return Counter.builder("kvorum.replication.operations")
			.tag("operation", text(operation))
			.tag("consistency", text(consistency))
			.tag("outcome", text(outcome))
			.description("Operations on keys that were answered")
			.register(registry);
	}

	/** The text of a constant in meters, traces and problem types. */
	static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	@Override
	public void decided(Operation operation, Consistency consistency, Outcome outcome) {
		Map<Consistency, Map<Outcome, Counter>> ofOperation = this.decided.getOrDefault(operation, Map.of());
		Counter counter = ofOperation.getOrDefault(consistency, Map.of()).get(outcome);
		if (counter != null) {
			counter.increment();
		}
	}

	@Override
	public void hedged() {
		this.hedged.increment();
	}

	@Override
	public void notHedged() {
		this.notHedged.increment();
	}

	@Override
	public void wroteBack() {
		this.wroteBack.increment();
	}

	@Override
	public void compared(int ballots) {
		this.ballots.record(ballots);
	}

	@Override
	public void refusedByPromise() {
		this.refusedByPromise.increment();
	}

	@Override
	public void idempotent(Repeat repeat) {
		Objects.requireNonNull(this.idempotent.get(repeat)).increment();
	}

	@Override
	public void settled() {
		this.settled.increment();
	}

	@Override
	public void repairing() {
		this.repairing.increment();
	}

	@Override
	public void repairDropped() {
		this.repairDropped.increment();
	}

}
