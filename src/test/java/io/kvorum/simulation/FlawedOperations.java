package io.kvorum.simulation;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.WriteOptions;
import io.kvorum.quorum.Reply.Reason;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The coordinator, with something wrong in how it ends writes. */
record FlawedOperations(Operations operations, Flaw flaw) implements Operations {

	@Override
	public Replicas defaults() {
		return this.operations.defaults();
	}

	@Override
	public Mono<Live> get(Key key, Replicas asked) {
		return this.operations.get(key, asked);
	}

	@Override
	public Mono<Version> put(Key key, WriteOptions options, int value, @Nullable Ttl ttl) {
		return write(key, options, flawed -> this.operations.put(key, flawed, value, ttl));
	}

	@Override
	public Mono<Version> delete(Key key, WriteOptions options) {
		return write(key, options, flawed -> this.operations.delete(key, flawed));
	}

	@Override
	public Mono<Map<Key, Integer>> range(int pageBytes) {
		return this.operations.range(pageBytes);
	}

	private Mono<Version> write(Key key, WriteOptions options, Function<WriteOptions, Mono<Version>> how) {
		if (this.flaw.isOfNames) {
			IdempotencyKey name = options.idempotencyKey();
			return (name != null) ? named(key, options, name, how) : how.apply(options);
		}
		Replicas asked = options.replicas();
		Condition condition = options.condition();
		Supplier<Mono<Version>> write = () -> how.apply(options);
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
			default -> throw new IllegalStateException("a flaw of names");
		};
	}

	private Mono<Version> named(Key key, WriteOptions options, IdempotencyKey name,
			Function<WriteOptions, Mono<Version>> how) {
		WriteOptions nameless = WriteOptions.of(options.replicas(), options.condition());
		return switch (this.flaw) {
			case FORGETS_NAMES -> how.apply(nameless);
			case RECORDS_LATE -> {
				Key record = Key.of(("record of " + name.name()).getBytes(StandardCharsets.US_ASCII));
				yield this.operations.get(record, options.replicas())
					.map(_ -> Version.ABSENT)
					.switchIfEmpty(
							Mono.defer(() -> how.apply(nameless)
								.flatMap(version -> this.operations
									.put(record, WriteOptions.of(options.replicas()), 1, null)
									.thenReturn(version))));
			}
			default -> this.operations.get(key, options.replicas())
				.map(Live::identity)
				.defaultIfEmpty(Version.ABSENT)
				.flatMap(found -> {
					Version current = found.equals(Version.ABSENT) ? null : found;
					return options.condition().holdsFor(current) ? how.apply(options)
							: Mono.error(new ConditionNotMetException(current));
				});
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
		STAMPS_AGAIN,

		/** A repeat is another write. */
		FORGETS_NAMES(true),

		/** A write is recorded once it has happened. */
		RECORDS_LATE(true),

		/** That a condition does not hold is told and not recorded. */
		TELLS_UNRECORDED(true);

		private final boolean isOfNames;

		Flaw() {
			this(false);
		}

		Flaw(boolean isOfNames) {
			this.isOfNames = isOfNames;
		}

	}

}
