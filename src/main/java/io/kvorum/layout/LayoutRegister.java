package io.kvorum.layout;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.kvorum.cluster.LayoutDecision;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.InternalKeys;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.WriteOptions;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * What was decided last about the nodes of the cluster. It is an entry of the store like
 * any other: linearizable, on as many nodes, and moved when nodes change. It changes by
 * conditional writes only, so one of two decisions at the same time wins.
 */
public final class LayoutRegister {

	private static final String CONTENT_TYPE = "text/plain";

	/** How often a decision is tried if another one wins that does not forbid it. */
	private static final int ATTEMPTS = 5;

	/** The number of no decision. */
	private static final long NOTHING_STORED = -1;

	private final KeyValueStore store;

	private final Supplier<LayoutDecision> founding;

	/**
	 * The register of a cluster.
	 * @param founding what holds if nothing newer was decided
	 */
	public LayoutRegister(KeyValueStore store, Supplier<LayoutDecision> founding) {
		this.store = store;
		this.founding = founding;
	}

	/** Reads the last decision. */
	public Mono<LayoutDecision> read() {
		return readWithIdentity().map(Known::decision);
	}

	private Mono<Known> readWithIdentity() {
		return Mono
			.defer(() -> this.store.get(InternalKeys.LAYOUT, this.store.policy().defaults(), OperationObserver.NONE))
			.map(live -> {
				LayoutDecision stored = decisionOf(live);
				return new Known(newest(stored), stored.number(), live.identity());
			})
			.switchIfEmpty(Mono.fromSupplier(() -> new Known(this.founding.get(), NOTHING_STORED, null)));
	}

	/** A store from a backup may have a decision that others were made after. */
	private LayoutDecision newest(LayoutDecision read) {
		LayoutDecision own = this.founding.get();
		return (own.layout().number() > read.number()) ? own : read;
	}

	/**
	 * The decision in an entry.
	 * @throws LayoutRefusedException if this release cannot read it
	 */
	public static LayoutDecision decisionOf(Live live) {
		try {
			return LayoutDecision.parse(new String(live.value().toBytes(), StandardCharsets.UTF_8));
		}
		catch (IllegalArgumentException ex) {
			throw LayoutRefusedException.conflict(
					"This release cannot read what was decided last about the nodes (%s). Update this node, or ask one of a newer release."
						.formatted(ex.getMessage()));
		}
	}

	/**
	 * Replaces the last decision by another one.
	 * @param next returns the decision that follows one, or throws what the result fails
	 * with. It may be called several times. What is decided already is not written again.
	 * @return the new decision
	 */
	public Mono<LayoutDecision> decide(UnaryOperator<LayoutDecision> next) {
		return Mono.defer(() -> readWithIdentity().flatMap(known -> {
			LayoutDecision decision = next.apply(known.decision);
			if (decision.number() == known.storedNumber) {
				return Mono.just(decision);
			}
			Condition condition = (known.identity != null)
					? new Condition(new Tags(false, Set.of(known.identity)), null) : new Condition(null, Tags.ANY);
			return this.store
				.put(InternalKeys.LAYOUT, WriteOptions.of(this.store.policy().defaults(), condition), CONTENT_TYPE,
						Value.of(decision.toText().getBytes(StandardCharsets.UTF_8)), null, OperationObserver.NONE)
				.thenReturn(decision);
		}))
			.retryWhen(Retry.max(ATTEMPTS)
				.filter(ConditionNotMetException.class::isInstance)
				.onRetryExhaustedThrow((_, _) -> LayoutRefusedException
					.conflict("Other decisions were made meanwhile. Look at the layout and try again.")));
	}

	private record Known(LayoutDecision decision, long storedNumber, @Nullable Version identity) {
	}

}
