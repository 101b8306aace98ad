package io.kvorum.simulation;

import java.util.Map;
import java.util.function.Supplier;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.quorum.Reply.Reason;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The coordinator, with something wrong in how it ends writes. */
record FlawedOperations(Operations operations, Flaw flaw) implements Operations {

	@Override
	public Mono<Live> get(Key key, Replicas asked) {
		return this.operations.get(key, asked);
	}

	@Override
	public Mono<Version> put(Key key, Replicas asked, Condition condition, int value, @Nullable Ttl ttl) {
		return write(key, asked, condition, () -> this.operations.put(key, asked, condition, value, ttl));
	}

	@Override
	public Mono<Version> delete(Key key, Replicas asked, Condition condition) {
		return write(key, asked, condition, () -> this.operations.delete(key, asked, condition));
	}

	@Override
	public Mono<Map<Key, Integer>> range(int pageBytes) {
		return this.operations.range(pageBytes);
	}

	private Mono<Version> write(Key key, Replicas asked, Condition condition, Supplier<Mono<Version>> write) {
		if (condition.isNone() != (this.flaw == Flaw.STAMPS_AGAIN)) {
			return write.get();
		}
		return switch (this.flaw) {
			case REFUSES_BY_ONE -> this.operations.get(key, new Replicas(1, asked.from()))
				.filter(live -> !condition.holdsFor(live.identity()))
				.<Version>flatMap(live -> Mono.error(new ConditionNotMetException(live.identity())))
				.switchIfEmpty(Mono.defer(write));
			case RETRIES_BLINDLY -> write.get().onErrorResume(FlawedOperations::isUnknown, _ -> write.get());
			case CLAIMS_OVERWRITTEN -> write.get()
				.onErrorResume(FlawedOperations::isUnknown,
						failure -> this.operations.get(key, asked)
							.filter(live -> live.lineage() == null)
							.map(_ -> Version.ABSENT)
							.switchIfEmpty(Mono.error(failure)));
			case STAMPS_AGAIN -> write.get()
				.onErrorResume(FlawedOperations::isRefused,
						failure -> write.get().onErrorMap(again -> isUnknown(failure) ? failure : again));
		};
	}

	private static boolean isUnknown(Throwable error) {
		return error instanceof OperationFailedException failure && failure.mayHaveHappened();
	}

	private static boolean isRefused(Throwable error) {
		return error instanceof OperationFailedException failure
				&& failure.replicas().stream().anyMatch(replica -> replica.reason().equals(Reason.PROMISED.text()));
	}

	/** What is wrong. */
	enum Flaw {

		/** A condition that one replica contradicts is not met. */
		REFUSES_BY_ONE,

		/** A conditional write of unknown end is made once more. */
		RETRIES_BLINDLY,

		/** A conditional write of unknown end below a put is claimed. */
		CLAIMS_OVERWRITTEN,

		/** A put that a promise refused is made once more. */
		STAMPS_AGAIN

	}

}
