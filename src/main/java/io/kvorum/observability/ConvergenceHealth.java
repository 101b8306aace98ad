package io.kvorum.observability;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

import io.kvorum.clock.TimeSource;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.ConvergenceStatus;
import io.kvorum.convergence.Joining;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.observability.ConvergenceState.Hints;
import io.kvorum.observability.ConvergenceState.Membership;
import io.kvorum.observability.ConvergenceState.Peer;
import io.kvorum.observability.ConvergenceState.Repair;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Status;
import reactor.core.publisher.Mono;

/**
 * Health of the convergence of this node with its peers. Never down, since a restart of a
 * node in quarantine, or behind, would only make it begin again. Unknown until the node
 * has joined its peers. Unknown counts as up, except in the group "joined", which maps it
 * to not ready.
 */
final class ConvergenceHealth implements ReactiveHealthIndicator {

	private final Convergence convergence;

	private final Joining joining;

	private final TimeSource time;

	ConvergenceHealth(Convergence convergence, Joining joining, TimeSource time) {
		this.convergence = convergence;
		this.joining = joining;
		this.time = time;
	}

	@Override
	public Mono<Health> health() {
		return Mono.fromSupplier(() -> healthOf(this.convergence.status()));
	}

	private Health healthOf(ConvergenceStatus status) {
		ConvergenceState state = ConvergenceState.of(status);
		Membership membership = state.membership();
		Map<String, String> waitsFor = this.joining.waitsFor(status);
		Health.Builder health = Health.status(waitsFor.isEmpty() ? Status.UP : Status.UNKNOWN)
			.withDetail("converged", state.converged())
			.withDetail("joined", waitsFor.isEmpty())
			.withDetail("membership", membership.state());
		if (!waitsFor.isEmpty()) {
			health.withDetail("waitsFor", waitsFor);
		}
		if (membership.doubt() != null) {
			health.withDetail("doubt", membership.doubt());
		}
		ChangeStatus change = this.convergence.change();
		if (change != null) {
			health.withDetail("change", change.describe());
		}
		if (!status.quarantine().refused().isEmpty()) {
			health.withDetail("refused", status.quarantine().refused());
		}
		if (membership.partsToDo() > 0) {
			health.withDetail("rebuilt", "%d of %d parts".formatted(membership.partsDone(), membership.partsToDo()));
		}
		if (!state.peers().isEmpty()) {
			health.withDetail("hints", eachOf(state, peer -> describe(peer.hints())))
				.withDetail("repairs", eachOf(state, peer -> describe(peer.repair())));
		}
		return health.build();
	}

	private static Map<String, String> eachOf(ConvergenceState state, Function<Peer, String> description) {
		Map<String, String> descriptions = new LinkedHashMap<>();
		state.peers().forEach((address, peer) -> descriptions.put(address, description.apply(peer)));
		return descriptions;
	}

	private String describe(Hints hints) {
		Instant oldest = hints.oldest();
		if (oldest == null) {
			return "0";
		}
		long seconds = Math.max(0, this.time.millis() - oldest.toEpochMilli()) / 1000;
		return "%d hints, %d bytes, the oldest %d s old".formatted(hints.waiting(), hints.bytes(), seconds);
	}

	private static String describe(Repair repair) {
		if (repair.active()) {
			return "under way: %d of %d slices".formatted(repair.slicesDone(), repair.slicesToDo());
		}
		if (repair.trouble() != null) {
			return "given up, to be tried again: " + repair.trouble();
		}
		return (repair.oldestRepair() != null) ? "equal as of " + repair.oldestRepair() : "not found equal yet";
	}

}
