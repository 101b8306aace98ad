package io.kvorum.operation;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;

/** The promises of {@link KeyValueStore} on keys, for each implementation. */
public abstract class KeyValueStoreContract {

	static final Key KEY = Generator.key("key");

	private static final String TYPE = "text/plain";

	/** The key has no value. */
	private static final Condition ABSENT = new Condition(null, Tags.ANY);

	/** The key has a value. */
	private static final Condition PRESENT = new Condition(Tags.ANY, null);

	static final Duration LIFE = Duration.ofSeconds(5);

	/** The time for which stores of this contract remember requests. */
	protected static final Duration RETENTION = Duration.ofMinutes(10);

	/** Longer than any ttl. */
	private static final Duration AGE = Ttl.MAX.plusDays(1);

	final Notes notes = new Notes();

	/** The store of this test, open and empty. */
	protected abstract KeyValueStore store();

	/** The executor on which this test calls the store. */
	protected abstract Scheduler caller();

	/** Lets time pass for the store. */
	protected abstract void pass(Duration time);

	/** Makes the store refuse writes because a limit is reached. Reads go on. */
	protected abstract void fill();

	/** Makes all further operations fail. */
	protected abstract void breakDown();

	@Test
	void thePolicyHasALevelForRequestsThatNameNone() {
		ReplicationPolicy policy = store().policy();

		assertThat(policy.factor()).isBetween(1, policy.nodes());
		assertThat(policy.consistencyOf(policy.defaults())).isEqualTo(Consistency.LINEARIZABLE);
	}

	@Test
	void aKeyThatWasNeverPutHasNoValue() {
		assertThat(get(KEY)).isNull();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 4096, 65_537, 1 << 20 })
	void aValueOfAnySizeIsReadWithItsTypeAndTheVersionOfItsPut(int length) {
		Value value = Value.of(new Generator(length).bytes(length));
		Version version = put(KEY, value, null);

		assertThat(get(KEY)).satisfies(live -> {
			assertThat(live.version()).isEqualTo(version);
			assertThat(live.contentType()).isEqualTo(TYPE);
			assertThat(live.value()).isEqualTo(value);
			assertThat(live.expires()).isFalse();
		});
	}

	@Test
	void keysThatDifferInOneByteAreDifferent() {
		List<Key> keys = List.of(Generator.key("a"), Generator.key("A"), Generator.key("a\0"),
				Key.of(new byte[] { 'a', -1 }), Key.of(new byte[] { -1 }));
		keys.forEach(key -> put(key, Value.of(key.bytes()), null));

		assertThat(keys).allSatisfy(key -> assertThat(valueOf(key)).isEqualTo(Value.of(key.bytes())));
	}

	@Test
	void aPutReplacesTheValueTheTypeAndTheTtl() {
		put(KEY, value("old"), new Ttl(LIFE));
		await(store().put(KEY, defaults(), "application/json", value("new"), null, this.notes));
		pass(LIFE);

		assertThat(get(KEY)).satisfies(live -> {
			assertThat(live.contentType()).isEqualTo("application/json");
			assertThat(live.value()).isEqualTo(value("new"));
		});
	}

	@Test
	void aDeletedKeyHasNoValueUntilItIsPutAgain() {
		put(KEY, "old");
		delete(KEY);
		assertThat(get(KEY)).isNull();
		put(KEY, "new");
		assertThat(valueOf(KEY)).isEqualTo(value("new"));
	}

	@Test
	void whatIsNewestHasItsVersionAndMayBeForgottenOnceThereIsNoValue() {
		assertThat(newest(KEY)).isNull();
		Version written = put(KEY, "value");
		assertThat(newest(KEY)).isEqualTo(new Newest(written, get(KEY)));
		Version deleted = delete(KEY);
		assertThat(newest(KEY)).isIn(null, new Newest(deleted, null));
		Version expiring = put(KEY, value("brief"), new Ttl(LIFE));
		pass(LIFE);
		assertThat(newest(KEY)).isIn(null, new Newest(expiring, null));
	}

	private @Nullable Newest newest(Key key) {
		return await(store().newest(key, defaults(), null, this.notes));
	}

	@Test
	void aKeyWithoutAValueCanBeDeleted() {
		Version first = delete(KEY);

		assertThat(delete(KEY)).isGreaterThan(first);
		assertThat(get(KEY)).isNull();
	}

	@Test
	void theVersionsOfAKeyGrowWhileTheClockStandsStill() {
		List<Version> versions = List.of(put(KEY, "first"), put(KEY, "second"), delete(KEY), put(KEY, "third"));

		assertThat(versions).isSorted().doesNotHaveDuplicates();
	}

	@Test
	void eachLevelReadsWhatItHasStored() {
		int nodes = store().policy().nodes();
		for (int from = 1; from <= nodes; from++) {
			for (int ack = 1; ack <= from; ack++) {
				Replicas level = new Replicas(ack, from);
				Key key = Generator.key("key " + level);
				await(store().put(key, level, TYPE, value("value"), null, this.notes));
				assertThat(await(store().get(key, level, this.notes))).extracting(Live::value)
					.isEqualTo(value("value"));
				await(store().delete(key, level, this.notes));
				assertThat(await(store().get(key, level, this.notes))).isNull();
			}
		}
	}

	@Test
	void anOperationBeginsWithEachSubscription() {
		Mono<Version> put = store().put(KEY, defaults(), TYPE, value("put"), null, this.notes);
		Mono<Live> get = store().get(KEY, defaults(), this.notes);
		Mono<Version> delete = store().delete(KEY, defaults(), this.notes);
		assertThat(this.notes.all).isEmpty();
		assertThat(get(KEY)).isNull();

		Version first = await(put);
		assertThat(await(get)).extracting(Live::version).isEqualTo(first);
		Version second = await(put);
		assertThat(second).isGreaterThan(first);
		assertThat(await(get)).extracting(Live::version).isEqualTo(second);
		assertThat(await(delete)).isGreaterThan(second);
		assertThat(await(get)).isNull();
	}

	@Test
	void resultsArriveOnTheExecutorOfTheCaller() {
		Thread caller = await(Mono.fromSupplier(Thread::currentThread));

		assertThat(threadOf(store().put(KEY, defaults(), TYPE, value("value"), null, this.notes))).isSameAs(caller);
		assertThat(threadOf(store().get(KEY, defaults(), this.notes))).isSameAs(caller);
		assertThat(threadOf(store().delete(KEY, defaults(), this.notes))).isSameAs(caller);
	}

	@Nullable Thread threadOf(Mono<?> operation) {
		return await(operation.map(_ -> Thread.currentThread()));
	}

	@Test
	void aCancelledWriteLeavesTheOldValueOrTheNewOne() {
		put(KEY, "old");
		await(Mono.fromRunnable(
				() -> store().put(KEY, defaults(), TYPE, value("new"), null, this.notes).subscribe().dispose()));
		put(Generator.key("other"), "value");

		assertThat(valueOf(KEY)).isIn(value("old"), value("new"));
	}

	@Test
	void aValueExpiresWhenItsTtlHasPassedSinceItsVersion() {
		Version version = put(KEY, value("value"), new Ttl(LIFE));
		pass(LIFE.minusMillis(1));
		assertThat(get(KEY))
			.satisfies(live -> assertThat(live.expiresAtMillis()).isEqualTo(version.millis() + LIFE.toMillis()));
		pass(Duration.ofMillis(1));
		assertThat(get(KEY)).isNull();
	}

	@Test
	void anExpiredKeyCanBePutAgainAndWithoutATtlItDoesNotExpire() {
		put(KEY, value("old"), new Ttl(LIFE));
		pass(LIFE);
		put(KEY, "new");
		pass(AGE);
		assertThat(valueOf(KEY)).isEqualTo(value("new"));
	}

	@Test
	void aStoreWithRoomRefusesNoWrite() {
		assertThat(store().refuseWrite(Operation.PUT, KEY, allReplicas(), 1000)).isNull();
		assertThat(store().refuseWrite(Operation.DELETE, KEY, allReplicas(), 0)).isNull();
	}

	@ParameterizedTest
	@EnumSource(names = { "PUT", "DELETE" })
	void aRefusedWriteFailsIfItIsTriedAllTheSame(Operation operation) {
		put(KEY, "old");
		fill();

		OperationFailedException refused = store().refuseWrite(operation, KEY, allReplicas(), 1000);
		assertThat(refused).isNotNull().matches(ex -> ex.kind() != Kind.NOT_ENOUGH_REPLICAS).matches(this::isNotBegun);
		assertThatExceptionOfType(OperationFailedException.class)
			.isThrownBy(() -> await(write(operation, allReplicas(), Value.of(new byte[1000]))));
		assertThat(valueOf(KEY)).isEqualTo(value("old"));
	}

	@Test
	void aKeyIsCreatedOnce() {
		Version first = putIf(ABSENT, "first");

		assertThat(unmet(ABSENT)).isEqualTo(first);
		assertThat(valueOf(KEY)).isEqualTo(value("first"));
		assertThat(this.notes.all).contains("decided CONDITION_NOT_MET");
	}

	@Test
	void aValueIsReplacedByWhoeverKnowsIt() {
		Version plain = put(KEY, "plain");
		Version second = putIf(matching(plain), "second");
		Version third = putIf(matching(plain, second), "third");

		assertThat(unmet(matching(plain, second))).isEqualTo(third);
		assertThat(get(KEY)).satisfies(live -> {
			assertThat(live.identity()).isEqualTo(third);
			assertThat(live.value()).isEqualTo(value("third"));
		});
	}

	@Test
	void anAbsentKeyMatchesNothing() {
		assertThat(unmet(matching(new Version(1, 1)))).isNull();
		assertThat(unmet(PRESENT)).isNull();
		put(KEY, "value");
		delete(KEY);
		assertThat(unmet(PRESENT)).isNull();
		assertThat(get(KEY)).isNull();
	}

	@Test
	void aValueIsKeptFromThoseWhoKnowIt() {
		Version known = put(KEY, "known");

		assertThat(unmet(new Condition(null, new Tags(false, Set.of(known))))).isEqualTo(known);
		Version changed = put(KEY, "changed");
		assertThat(putIf(new Condition(null, new Tags(false, Set.of(known))), "new")).isGreaterThan(changed);
	}

	@Test
	void bothConditionsHaveToHold() {
		Version first = put(KEY, "first");
		Condition presentAndOther = new Condition(Tags.ANY, new Tags(false, Set.of(first)));

		assertThat(unmet(presentAndOther)).isEqualTo(first);
		put(KEY, "second");
		putIf(presentAndOther, "third");
		assertThat(valueOf(KEY)).isEqualTo(value("third"));
	}

	@Test
	void aKeyIsDeletedByWhoeverKnowsIt() {
		Version first = put(KEY, "first");
		assertThatExceptionOfType(ConditionNotMetException.class)
			.isThrownBy(() -> await(store().delete(KEY, on(matching(new Version(1, 1))), this.notes)))
			.extracting(ConditionNotMetException::current)
			.isEqualTo(first);
		assertThat(valueOf(KEY)).isEqualTo(value("first"));

		await(store().delete(KEY, on(matching(first)), this.notes));
		assertThat(get(KEY)).isNull();
		putIf(ABSENT, "again");
		assertThat(valueOf(KEY)).isEqualTo(value("again"));
	}

	@Test
	void anExpiredValueIsNoValue() {
		Version expiring = put(KEY, value("for a while"), new Ttl(LIFE));
		assertThat(unmet(ABSENT)).isEqualTo(expiring);
		pass(LIFE);

		assertThat(unmet(matching(expiring))).isNull();
		putIf(ABSENT, "new");
		assertThat(valueOf(KEY)).isEqualTo(value("new"));
	}

	@Test
	void aConditionalValueExpiresToo() {
		await(store().put(KEY, on(ABSENT), TYPE, value("for a while"), new Ttl(LIFE), this.notes));
		assertThat(valueOf(KEY)).isEqualTo(value("for a while"));
		pass(LIFE);

		assertThat(get(KEY)).isNull();
	}

	@Test
	void writesWithoutAConditionGoOnBesideThoseWithOne() {
		for (int i = 0; i < 10; i++) {
			Version conditional = putIf(ABSENT, "conditional");
			assertThat(put(KEY, "plain")).isGreaterThan(conditional);
			assertThat(valueOf(KEY)).isEqualTo(value("plain"));
			assertThat(delete(KEY)).isGreaterThan(conditional);
		}
	}

	@Test
	void aRepeatReturnsTheVersionOfTheFirstRequestAndChangesNothing() {
		Version first = putOnce("request", "first");
		Version later = put(KEY, "later");

		assertThat(putOnce("request", "first")).isEqualTo(first);
		assertThat(valueOf(KEY)).isEqualTo(value("later"));
		assertThat(putOnce("another-request", "first")).isGreaterThan(later);
		assertThat(valueOf(KEY)).isEqualTo(value("first"));
	}

	@Test
	void aRepeatedDeleteDeletesOnce() {
		put(KEY, "first");
		Version deleted = await(store().delete(KEY, named("request", Condition.NONE), this.notes));
		put(KEY, "later");

		assertThat(await(store().delete(KEY, named("request", Condition.NONE), this.notes))).isEqualTo(deleted);
		assertThat(valueOf(KEY)).isEqualTo(value("later"));
	}

	@Test
	void aRepeatOfAConditionalWriteReturnsItsOutcome() {
		Version created = putOnce("creates", ABSENT, "first");
		assertThat(putOnce("creates", ABSENT, "first")).isEqualTo(created);
		assertThat(unmetOnce("comes-late", ABSENT)).isEqualTo(created);

		delete(KEY);
		assertThat(unmetOnce("comes-late", ABSENT)).isEqualTo(created);
		assertThat(putOnce("creates", ABSENT, "first")).isEqualTo(created);
		assertThat(get(KEY)).isNull();
		assertThat(unmetOnce("finds-nothing", PRESENT)).isNull();
		put(KEY, "again");
		assertThat(unmetOnce("finds-nothing", PRESENT)).isNull();
	}

	@Test
	void aNameBelongsToOneRequestOfOneCaller() {
		WriteOptions options = named("request", Condition.NONE);
		Version first = putOnce("request", "first");

		refused(Kind.KEY_REUSED, store().put(KEY, options, TYPE, value("other"), null, this.notes));
		refused(Kind.KEY_REUSED, store().put(KEY, options, "other/type", value("first"), null, this.notes));
		refused(Kind.KEY_REUSED, store().put(KEY, options, TYPE, value("first"), new Ttl(LIFE), this.notes));
		refused(Kind.KEY_REUSED, store().put(Generator.key("other"), options, TYPE, value("first"), null, this.notes));
		refused(Kind.KEY_REUSED, store().put(KEY, named("request", PRESENT), TYPE, value("first"), null, this.notes));
		refused(Kind.KEY_REUSED, store().delete(KEY, options, this.notes));
		assertThat(this.notes.all).contains("decided CONFLICT")
			.doesNotContain("decided NOT_APPLIED", "decided UNKNOWN");
		assertThat(putOnce("request", "first")).isEqualTo(first);

		WriteOptions ofAnother = new WriteOptions(defaults(), Condition.NONE, new IdempotencyKey("another", "request"),
				null);
		Version other = await(store().put(KEY, ofAnother, TYPE, value("other"), null, this.notes));
		assertThat(other).isGreaterThan(first);
	}

	@Test
	void ofRequestsAtTheSameTimeOneIsDoneAndTheOthersWaitOrLearnItsOutcome() {
		WriteOptions options = named("request", Condition.NONE);
		List<Version> versions = await(Flux.range(0, 8)
			.flatMap(_ -> store().put(KEY, options, TYPE, value("value"), null, OperationObserver.NONE)
				.subscribeOn(caller())
				.onErrorResume(OperationFailedException.class,
						ex -> (ex.kind() == Kind.UNDER_WAY) ? Mono.empty() : Mono.error(ex)))
			.collectList());

		assertThat(versions).isNotEmpty().containsOnly(putOnce("request", "value"));
	}

	@Test
	void aRequestIsForgottenAfterItsTime() {
		Version first = putOnce("request", "first");
		pass(RETENTION);

		assertThat(putOnce("request", "other")).isGreaterThan(first);
		assertThat(valueOf(KEY)).isEqualTo(value("other"));
	}

	Version putOnce(String name, String text) {
		return putOnce(name, Condition.NONE, text);
	}

	Version putOnce(String name, Condition condition, String text) {
		return Objects
			.requireNonNull(await(store().put(KEY, named(name, condition), TYPE, value(text), null, this.notes)));
	}

	private @Nullable Version unmetOnce(String name, Condition condition) {
		return unmet(store().put(KEY, named(name, condition), TYPE, value("must not be there"), null, this.notes));
	}

	void refused(Kind kind, Mono<Version> write) {
		assertThatExceptionOfType(OperationFailedException.class).isThrownBy(() -> await(write))
			.satisfies(ex -> assertThat(ex.kind()).isEqualTo(kind))
			.satisfies(ex -> assertThat(ex.mayHaveHappened()).isFalse());
	}

	private WriteOptions named(String name, Condition condition) {
		return new WriteOptions(defaults(), condition, new IdempotencyKey("caller", name), null);
	}

	private WriteOptions on(Condition condition) {
		return WriteOptions.of(defaults(), condition);
	}

	private static Condition matching(Version... versions) {
		return new Condition(new Tags(false, Set.of(versions)), null);
	}

	private Version putIf(Condition condition, String text) {
		return Objects.requireNonNull(await(store().put(KEY, on(condition), TYPE, value(text), null, this.notes)));
	}

	/** The identity that a put is told, whose condition does not hold. */
	private @Nullable Version unmet(Condition condition) {
		return unmet(store().put(KEY, on(condition), TYPE, value("must not be there"), null, this.notes));
	}

	private @Nullable Version unmet(Mono<Version> write) {
		try {
			await(write);
		}
		catch (ConditionNotMetException ex) {
			return ex.current();
		}
		throw new AssertionError("the condition holds");
	}

	private Mono<Version> write(Operation operation, Replicas level, Value value) {
		return (operation == Operation.PUT) ? store().put(KEY, level, TYPE, value, null, this.notes)
				: store().delete(KEY, level, this.notes);
	}

	boolean isNotBegun(OperationFailedException ex) {
		return !ex.mayHaveHappened() && ex.mayRetry();
	}

	@Test
	void anOperationIsReportedOnceWithItsLevelAndItsOutcome() {
		for (Replicas level : List.of(defaults(), new Replicas(1, 1))) {
			String began = "began %d/%d %s".formatted(level.ack(), level.from(), store().policy().consistencyOf(level));
			for (Mono<?> operation : List.of(store().get(KEY, level, this.notes),
					store().put(KEY, level, TYPE, value("value"), null, this.notes),
					store().get(KEY, level, this.notes), store().delete(KEY, level, this.notes))) {
				this.notes.all.clear();
				await(operation.then());
				assertThat(this.notes.all).containsExactly(began, "decided REACHED");
				assertThat(this.notes.calls).allSatisfy(ends -> assertThat(ends).hasValueLessThanOrEqualTo(1));
			}
		}
	}

	@Test
	void aReadOfABrokenStoreFailsAndSaysSo() {
		breakDown();

		assertThatExceptionOfType(OperationFailedException.class)
			.isThrownBy(() -> await(store().get(KEY, defaults(), this.notes)))
			.matches(ex -> ex.acknowledged() < ex.required())
			.matches(ex -> !ex.mayHaveHappened());
		assertThat(this.notes.all).hasSize(2).endsWith("decided NOT_APPLIED");
	}

	@ParameterizedTest
	@EnumSource(names = { "PUT", "DELETE" })
	void aWriteToABrokenStoreFailsAndSaysWhetherItMayHaveHappened(Operation operation) {
		breakDown();

		assertThatExceptionOfType(OperationFailedException.class)
			.isThrownBy(() -> await(
					(operation == Operation.PUT) ? store().put(KEY, defaults(), TYPE, value("value"), null, this.notes)
							: store().delete(KEY, defaults(), this.notes)))
			.matches(ex -> ex.acknowledged() < ex.required())
			.satisfies(ex -> assertThat(this.notes.all).hasSize(2)
				.endsWith(ex.mayHaveHappened() ? "decided UNKNOWN" : "decided NOT_APPLIED"));
	}

	private Replicas defaults() {
		return store().policy().defaults();
	}

	private Replicas allReplicas() {
		int nodes = store().policy().nodes();
		return new Replicas(nodes, nodes);
	}

	static Value value(String text) {
		return Value.of(text.getBytes(StandardCharsets.UTF_8));
	}

	<T> @Nullable T await(Mono<T> operation) {
		return Awaited.of(operation.subscribeOn(caller()));
	}

	@Nullable Live get(Key key) {
		return await(store().get(key, defaults(), OperationObserver.NONE));
	}

	private @Nullable Value valueOf(Key key) {
		Live live = get(key);
		return (live != null) ? live.value() : null;
	}

	Version put(Key key, String text) {
		return put(key, value(text), null);
	}

	Version put(Key key, Value value, @Nullable Ttl ttl) {
		return written(await(store().put(key, defaults(), TYPE, value, ttl, OperationObserver.NONE)));
	}

	Version delete(Key key) {
		return written(await(store().delete(key, defaults(), OperationObserver.NONE)));
	}

	private static Version written(@Nullable Version version) {
		return (version != null) ? version : fail("no version");
	}

	/** Notes the begin and the outcome of operations, and the ends of each call. */
	static final class Notes implements OperationObserver {

		final List<String> all = new CopyOnWriteArrayList<>();

		final List<AtomicInteger> calls = new CopyOnWriteArrayList<>();

		@Override
		public void began(Replicas asked, Consistency consistency) {
			this.all.add("began %d/%d %s".formatted(asked.ack(), asked.from(), consistency));
		}

		@Override
		public void began(RangeScope scope) {
			this.all.add("began " + scope);
		}

		@Override
		public Call asked(String replica, Step step, boolean hedge) {
			AtomicInteger ends = new AtomicInteger();
			this.calls.add(ends);
			return (_, _) -> ends.incrementAndGet();
		}

		@Override
		public void decided(Outcome outcome) {
			this.all.add("decided " + outcome);
		}

		@Override
		public void ended(RangeOutcome outcome) {
			this.all.add("ended " + outcome);
		}

	}

}
