package io.kvorum.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.kvorum.clock.Deadline;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.WriteOptions;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.testing.Generator;
import io.kvorum.testing.InMemoryStorage;
import io.kvorum.testing.Now;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What an operation on a node that works answers. Blocks its own thread, as a test may:
 * the model answers at once.
 */
class CoordinatorTests {

	private static final Key KEY = Generator.key("key");

	private static final Replicas ONE = new Replicas(1, 1);

	private final SteeredTime time = new SteeredTime();

	private final InMemoryStorage storage = new InMemoryStorage();

	private final HybridLogicalClock clock = new HybridLogicalClock(this.time);

	private final Coordinator coordinator = Coordinators.alone(this.storage, this.clock, this.time);

	private CompletableFuture<Void> boundStored = CompletableFuture.completedFuture(null);

	CoordinatorTests() {
		this.clock.start(7, 0, _ -> this.boundStored);
	}

	@Test
	void aKeyThatWasNeverPutHasNoValue() {
		assertThat(Now.of(this.coordinator.get(KEY, ONE, OperationObserver.NONE))).isNull();
	}

	@Test
	void whatWasPutIsReadWithItsTypeItsCopiesAndTheVersionThatThePutReturned() {
		Version version = put("value");

		assertThat(Now.of(this.coordinator.get(KEY, ONE, OperationObserver.NONE)))
			.isEqualTo(new Live(version(version), 1, Live.NEVER, "text/plain", value("value")));
	}

	@Test
	void aLaterPutWinsAlsoWithinOneMillisecondAndAfterTheClockFellBack() {
		put("first");
		put("second");
		assertThat(valueRead()).isEqualTo(value("second"));
		this.time.jump(Duration.ofHours(-1));
		put("third");
		assertThat(valueRead()).isEqualTo(value("third"));
	}

	@Test
	void afterTheClockFellBackAlsoKeysThatAreNewCanBePut() {
		put("first");
		this.time.jump(Duration.ofHours(-1));

		Key other = Generator.key("new");
		Version version = version(
				Now.of(this.coordinator.put(other, ONE, "text/plain", value("value"), null, OperationObserver.NONE)));

		assertThat(Now.of(this.coordinator.get(other, ONE, OperationObserver.NONE))).extracting(Live::version)
			.isEqualTo(version);
	}

	@Test
	void alonePutsAndDeletesOfAKeyThatAnotherNodeWroteAheadOfTheClockAreNotAppliedAndSayByHowMuch() {
		Live ahead = Generator.live(new Version((this.time.millis() + 3_600_000) << Version.COUNTER_BITS, 3), "ahead");
		Now.of(this.storage.store(KEY, ahead, Deadline.NONE));

		for (Mono<Version> write : List.of(
				this.coordinator.put(KEY, ONE, "text/plain", value("value"), null, OperationObserver.NONE),
				this.coordinator.delete(KEY, ONE, OperationObserver.NONE))) {
			assertThat(write.toFuture().exceptionNow()).isInstanceOfSatisfying(OperationFailedException.class,
					failed -> {
						assertThat(failed.kind()).isEqualTo(Kind.NOT_ACCEPTED);
						assertThat(failed.mayHaveHappened()).isFalse();
						assertThat(failed).hasMessageContaining("3600000 ms ahead");
						assertThat(failed.replicas()).singleElement()
							.extracting(ReplicaFailure::reason)
							.isEqualTo("clock");
					});
		}
		assertThat(Now.of(this.coordinator.get(KEY, ONE, OperationObserver.NONE))).isEqualTo(ahead);

		this.time.pass(Duration.ofHours(1).plusMillis(1));
		this.clock.extension();
		put("value");
		assertThat(valueRead()).isEqualTo(value("value"));
	}

	@Test
	void aloneAWriteThatComesAfterALaterOneOfThisNodeHasBeenOverwritten() {
		Version later = version(Now.of(this.coordinator.delete(Generator.key("other"), ONE, OperationObserver.NONE)));
		Live overtaking = Generator.live(new Version(later.timestamp() + 1_000, later.node()), "overtaking");
		Now.of(this.storage.store(KEY, overtaking, Deadline.NONE));

		put("value");
		assertThat(valueRead()).isEqualTo(overtaking.value());
	}

	@Test
	void whatWasDeletedIsGoneAndItsTombstoneIsKept() {
		Version put = put("value");
		Version deleted = version(Now.of(this.coordinator.delete(KEY, ONE, OperationObserver.NONE)));

		assertThat(Now.of(this.coordinator.get(KEY, ONE, OperationObserver.NONE))).isNull();
		assertThat(deleted.isNewerThan(put)).isTrue();
		assertThat(Now.of(this.storage.read(KEY, Deadline.NONE))).isEqualTo(new Tombstone(deleted, 1));
	}

	@Test
	void aKeyThatIsAbsentCanBeDeletedAndAPutAfterADeleteIsSeen() {
		Now.of(this.coordinator.delete(KEY, ONE, OperationObserver.NONE));
		put("again");

		assertThat(valueRead()).isEqualTo(value("again"));
	}

	@Test
	void aValueWithATtlIsGoneAtTheInstantCountedFromThePut() {
		Now.of(this.coordinator.put(KEY, ONE, "text/plain", value("value"), Ttl.parse("30s"), OperationObserver.NONE));
		this.time.pass(Duration.ofSeconds(30).minusMillis(1));
		assertThat(valueRead()).isEqualTo(value("value"));

		this.time.pass(Duration.ofMillis(1));
		assertThat(Now.of(this.coordinator.get(KEY, ONE, OperationObserver.NONE))).isNull();
	}

	@Test
	void aloneWithVersionsFarAheadOfTheClockAValueWithATtlLivesForThatLong() {
		put("first");
		this.time.jump(Duration.ofHours(-23));
		Now.of(this.coordinator.put(KEY, ONE, "text/plain", value("value"), Ttl.parse("30s"), OperationObserver.NONE));
		this.time.pass(Duration.ofSeconds(30).minusMillis(1));
		assertThat(valueRead()).isEqualTo(value("value"));

		this.time.pass(Duration.ofMillis(1));
		assertThat(Now.of(this.coordinator.get(KEY, ONE, OperationObserver.NONE))).isNull();
	}

	@Test
	void aloneAWriteThatMayBeRepeatedExpiresByItsVersionAsAtANodeWithPeers() {
		put("first");
		this.time.jump(Duration.ofHours(-1));
		WriteOptions named = new WriteOptions(ONE, Condition.NONE, new IdempotencyKey("caller", "name"), null);
		Version version = Now.of(this.coordinator.put(KEY, named, "text/plain", value("value"), Ttl.parse("30s"),
				OperationObserver.NONE));

		assertThat(Now.of(this.storage.read(KEY, Deadline.NONE))).isInstanceOfSatisfying(Live.class,
				live -> assertThat(live.expiresAtMillis())
					.isEqualTo(Objects.requireNonNull(version).millis() + 30_000));
	}

	@Test
	void aPutWithoutATtlOverOneWithATtlStays() {
		Now.of(this.coordinator.put(KEY, ONE, "text/plain", value("for a while"), Ttl.parse("1s"),
				OperationObserver.NONE));
		put("for ever");
		this.time.pass(Duration.ofDays(400));

		assertThat(valueRead()).isEqualTo(value("for ever"));
	}

	@Test
	void afterAnIdleHourAPutWaitsUntilTheBoundIsStoredAndItsVersionIsOfNow() {
		this.time.pass(Duration.ofHours(1));
		this.boundStored = new CompletableFuture<>();
		CompletableFuture<?> put = this.coordinator
			.put(KEY, ONE, "text/plain", value("value"), null, OperationObserver.NONE)
			.toFuture();
		assertThat(put).isNotDone();
		assertThat(Now.of(this.coordinator.get(KEY, ONE, OperationObserver.NONE))).isNull();

		this.boundStored.complete(null);
		assertThat(put).isCompletedWithValueMatching(
				version -> version instanceof Version given && given.millis() == this.time.millis());
		assertThat(valueRead()).isEqualTo(value("value"));
	}

	@Test
	void whoGivesUpWaitingForTheBoundDoesNotFailTheOthers() {
		this.time.pass(Duration.ofHours(1));
		this.boundStored = new CompletableFuture<>();
		CompletableFuture<?> first = this.coordinator.delete(Generator.key("first"), ONE, OperationObserver.NONE)
			.toFuture();
		CompletableFuture<?> second = this.coordinator.delete(Generator.key("second"), ONE, OperationObserver.NONE)
			.toFuture();

		first.cancel(true);
		this.boundStored.complete(null);

		assertThat(second).isCompletedWithValueMatching(Version.class::isInstance);
	}

	@Test
	void whereTheBoundCannotBeStoredAPutIsNotAcceptedAndLeavesNothing() {
		this.time.pass(Duration.ofHours(1));
		this.boundStored = CompletableFuture.failedFuture(new Overloaded("a queue", 1));

		assertThatExceptionOfType(OperationFailedException.class).isThrownBy(() -> put("value"))
			.matches(ex -> ex.kind() == Kind.NOT_ACCEPTED && !ex.mayHaveHappened() && ex.mayRetry());
		assertThat(Now.of(this.storage.read(KEY, Deadline.NONE))).isNull();
	}

	@Test
	void whereTheMachineClockPassesTheBoundAgainMeanwhileAPutIsNotAcceptedAndTheNextOneIs() {
		this.time.pass(Duration.ofHours(1));
		this.boundStored = new CompletableFuture<>();
		CompletableFuture<?> put = this.coordinator
			.put(KEY, ONE, "text/plain", value("value"), null, OperationObserver.NONE)
			.toFuture();
		this.time.pass(Duration.ofHours(1));
		this.boundStored.complete(null);

		assertThat(put).isCompletedExceptionally();
		assertThat(put.exceptionNow()).isInstanceOfSatisfying(OperationFailedException.class, ex -> {
			assertThat(ex.kind()).isEqualTo(Kind.NOT_ACCEPTED);
			assertThat(ex.mayHaveHappened()).isFalse();
			assertThat(ex.replicas()).singleElement().extracting("reason").isEqualTo("clock");
		});
		put("later");
		assertThat(valueRead()).isEqualTo(value("later"));
	}

	private Version put(String text) {
		return version(Now.of(this.coordinator.put(KEY, ONE, "text/plain", value(text), null, OperationObserver.NONE)));
	}

	private Value valueRead() {
		Live live = Now.of(this.coordinator.get(KEY, ONE, OperationObserver.NONE));
		if (live == null) {
			throw new AssertionError("there is no value");
		}
		return live.value();
	}

	private static Version version(@Nullable Version version) {
		if (version == null) {
			throw new AssertionError("there is no version");
		}
		return version;
	}

	private static Value value(String text) {
		return Generator.live(Version.ABSENT, text).value();
	}

}
