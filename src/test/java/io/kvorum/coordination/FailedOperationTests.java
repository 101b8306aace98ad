package io.kvorum.coordination;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Version;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.operation.OperationObserver;
import io.kvorum.storage.Page;
import io.kvorum.storage.StorageEngine;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.StorageException.WriteFailed;
import io.kvorum.storage.StorageException.WriteTimedOut;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

import static org.assertj.core.api.Assertions.assertThat;

/** What the failures of storage mean to who asked: try again? may it have happened? */
class FailedOperationTests {

	private static final Key KEY = Generator.key("key");

	private static final Replicas ONE = new Replicas(1, 1);

	private static final Duration LIMIT = Duration.ofSeconds(1);

	static Stream<Arguments> failures() {
		Throwable cause = new IllegalStateException("the cause");
		return Stream.of(
				Arguments.of(new Overloaded("limit", 1), Kind.NOT_ACCEPTED,
						new ReplicaFailure("self", "overloaded", false, true)),
				Arguments.of(new Unavailable("closing"), Kind.NOT_ACCEPTED,
						new ReplicaFailure("self", "unavailable", false, true)),
				Arguments.of(NoSpace.refused(1, 2), Kind.NO_SPACE, new ReplicaFailure("self", "no-space", false, true)),
				Arguments.of(NoSpace.refused(cause), Kind.NO_SPACE,
						new ReplicaFailure("self", "no-space", false, true)),
				Arguments.of(NoSpace.met(cause), Kind.NO_SPACE, new ReplicaFailure("self", "no-space", true, true)),
				Arguments.of(new Unreadable(cause), Kind.NOT_ENOUGH_REPLICAS,
						new ReplicaFailure("self", "unreadable", false, false)),
				Arguments.of(new ReadTimedOut(LIMIT), Kind.NOT_ENOUGH_REPLICAS,
						new ReplicaFailure("self", "timeout", false, true)),
				Arguments.of(new WriteTimedOut(LIMIT), Kind.NOT_ENOUGH_REPLICAS,
						new ReplicaFailure("self", "timeout", true, true)),
				Arguments.of(new WriteFailed(cause), Kind.NOT_ENOUGH_REPLICAS,
						new ReplicaFailure("self", "write-failed", true, true)));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("failures")
	void anErrorOfStorageSaysWhetherToTryAgainAndWhetherItMayHaveHappened(StorageException error, Kind kind,
			ReplicaFailure replica) {
		Coordinator coordinator = coordinator(Mono.error(error));
		List<Mono<?>> writes = List.of(coordinator.delete(KEY, ONE, OperationObserver.NONE), coordinator.put(KEY, ONE,
				"text/plain", Generator.live(Version.ABSENT, "v").value(), null, OperationObserver.NONE));
		ReplicaFailure ofRead = new ReplicaFailure("self", replica.reason(), false, replica.mayRetry());

		assertThat(writes).allSatisfy(write -> verifyFailed(write, error, kind, replica));
		verifyFailed(coordinator.get(KEY, ONE, OperationObserver.NONE), error, kind, ofRead);
	}

	private static void verifyFailed(Mono<?> operation, StorageException error, Kind kind, ReplicaFailure replica) {
		StepVerifier.create(operation)
			.verifyErrorSatisfies(
					thrown -> assertThat(thrown).isInstanceOfSatisfying(OperationFailedException.class, failed -> {
						assertThat(failed.kind()).isEqualTo(kind);
						assertThat(failed.replicas()).containsExactly(replica);
						assertThat(failed.mayHaveHappened()).isEqualTo(replica.mayHaveHappened());
						assertThat(failed.mayRetry()).isEqualTo(replica.mayRetry());
						assertThat(failed.required()).isEqualTo(1);
						assertThat(failed.acknowledged()).isZero();
						assertThat(failed).hasMessage(error.getMessage());
					}));
	}

	@Test
	void anErrorThatNobodyForesawIsLeftAsItIs() {
		StepVerifier
			.create(coordinator(Mono.error(new IllegalStateException("a bug"))).get(KEY, ONE, OperationObserver.NONE))
			.verifyErrorMessage("a bug");
	}

	private static Coordinator coordinator(Mono<?> answer) {
		SteeredTime time = new SteeredTime();
		HybridLogicalClock clock = new HybridLogicalClock(time);
		clock.start(1, 0, _ -> CompletableFuture.completedFuture(null));
		return Coordinators.alone(new Answering(answer), clock, time);
	}

	/** Answers everything with the same error. */
	private record Answering(Mono<?> answer) implements StorageEngine {

		@Override
		public Mono<Entry> read(Key key, Deadline deadline) {
			return this.answer.cast(Entry.class);
		}

		@Override
		public Mono<StoreOutcome> store(Key key, Entry entry, Deadline deadline) {
			return this.answer.cast(StoreOutcome.class);
		}

		@Override
		public Mono<StoreOutcome> repair(Key key, Entry entry, Deadline deadline) {
			return this.answer.cast(StoreOutcome.class);
		}

		@Override
		public Mono<Version> promised(Key key, Deadline deadline) {
			return this.answer.cast(Version.class);
		}

		@Override
		public Mono<StoreOutcome> prepare(Key key, Version ballot, Deadline deadline) {
			return this.answer.cast(StoreOutcome.class);
		}

		@Override
		public Mono<StoreOutcome> accept(Key key, Entry entry, Version base, Deadline deadline) {
			return this.answer.cast(StoreOutcome.class);
		}

		@Override
		public Mono<Page> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
			return this.answer.cast(Page.class);
		}

		@Override
		public Mono<Void> probe() {
			return this.answer.then();
		}

	}

}
