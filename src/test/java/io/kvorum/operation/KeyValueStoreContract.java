package io.kvorum.operation;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyFolding;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.RangePiece.Folder;
import io.kvorum.operation.RangePiece.Head;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
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

/** The promises of {@link KeyValueStore}, for each implementation. */
public abstract class KeyValueStoreContract {

	private static final Key KEY = Generator.key("key");

	private static final String TYPE = "text/plain";

	/** The key has no value. */
	private static final Condition ABSENT = new Condition(null, Tags.ANY);

	/** The key has a value. */
	private static final Condition PRESENT = new Condition(Tags.ANY, null);

	private static final Duration LIFE = Duration.ofSeconds(5);

	/** The time for which stores of this contract remember requests. */
	protected static final Duration RETENTION = Duration.ofMinutes(10);

	/** Longer than any ttl. */
	private static final Duration AGE = Ttl.MAX.plusDays(1);

	private static final long ALL = Long.MAX_VALUE;

	/** More ranges than any store opens at a time. */
	private static final int TOO_MANY_RANGES = 10_000;

	private final Notes notes = new Notes();

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
		withRange(KeyRange.all(), ALL, cursor -> assertThat(threadOf(cursor.next())).isSameAs(caller));
	}

	private @Nullable Thread threadOf(Mono<?> operation) {
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

	@Test
	void whatIsRememberedOfRequestsIsInNoRange() {
		putOnce("request", "value");

		assertThat(keysOf(KeyRange.all())).containsExactly(KEY);
	}

	private Version putOnce(String name, String text) {
		return putOnce(name, Condition.NONE, text);
	}

	private Version putOnce(String name, Condition condition, String text) {
		return Objects
			.requireNonNull(await(store().put(KEY, named(name, condition), TYPE, value(text), null, this.notes)));
	}

	private @Nullable Version unmetOnce(String name, Condition condition) {
		return unmet(store().put(KEY, named(name, condition), TYPE, value("must not be there"), null, this.notes));
	}

	private void refused(Kind kind, Mono<Version> write) {
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

	private boolean isNotBegun(OperationFailedException ex) {
		return !ex.mayHaveHappened() && ex.mayRetry();
	}

	@ParameterizedTest
	@EnumSource
	void aRangeOfNoKeysIsOneLastPieceWithoutEntries(RangeScope scope) {
		RangePiece piece = withRange(scope, KeyRange.all(), 1, this::next);

		assertThat(piece).isEqualTo(new RangePiece(List.of(), true, null));
	}

	@Test
	void aRangeHasItsStartAndNotItsEndAndIsInTheUnsignedOrderOfTheBytesOfKeys() {
		List<Key> ordered = List.of(Generator.key("a"), Generator.key("a\0"), Generator.key("aa"), Generator.key("b"),
				Key.of(new byte[] { 'b', (byte) 0x80 }), Key.of(new byte[] { (byte) 0xfe, (byte) 0xff }));
		ordered.reversed().forEach(key -> put(key, "value"));

		assertThat(keysOf(KeyRange.all())).isEqualTo(ordered);
		assertThat(keysOf(range("a", "b"))).isEqualTo(ordered.subList(0, 3));
		assertThat(keysOf(range("a\0", "b\0"))).isEqualTo(ordered.subList(1, 4));
		assertThat(keysOf(range("b", null))).isEqualTo(ordered.subList(3, 6));
		assertThat(keysOf(range("ab", "b"))).isEmpty();
	}

	@Test
	void aRangeHasTheEntriesThatAGetReads() {
		put(Generator.key("a"), value("value"), new Ttl(LIFE));
		put(Generator.key("b"), Value.of(new Generator(1).bytes(100_000)), null);

		assertThat(entriesOf(KeyRange.all(), ALL).entries())
			.allSatisfy(item -> assertThat(((Item) item).live()).isEqualTo(get(item.key())))
			.hasSize(2);
	}

	@Test
	void aRangeLeavesOutWhatIsDeletedOrExpiredAndDoesNotCountIt() {
		put(Generator.key("a"), value("value"), new Ttl(LIFE));
		put(Generator.key("b"), "value");
		put(Generator.key("c"), "value");
		put(Generator.key("d"), "value");
		put(Generator.key("e"), value("value"), new Ttl(LIFE));
		delete(Generator.key("c"));
		pass(LIFE);

		assertThat(entriesOf(KeyRange.all(), 2)).satisfies(all -> {
			assertThat(all.keys()).containsExactly(Generator.key("b"), Generator.key("d"));
			assertThat(all.next()).isNull();
		});
	}

	@Test
	void aRangeStopsAtItsLimitAndNamesTheFirstKeyBeyond() {
		List<Key> keys = List.of(Generator.key("a"), Generator.key("b"), Generator.key("c"), Generator.key("d"));
		keys.forEach(key -> put(key, "value"));

		for (int limit = 1; limit <= keys.size(); limit++) {
			Entries entries = entriesOf(KeyRange.all(), limit);
			assertThat(entries.keys()).isEqualTo(keys.subList(0, limit));
			assertThat(entries.next()).isEqualTo((limit < keys.size()) ? keys.get(limit) : null);
		}
		assertThat(entriesOf(range("a", "c"), 2).next()).as("the end of the range").isNull();
	}

	@SeededTest
	void aRangeReadFromLimitToLimitIsWhatWasPut(long seed) {
		Generator random = new Generator(seed);
		NavigableMap<Key, Value> model = new TreeMap<>();
		for (int i = 0; i < 120; i++) {
			Key key = Generator.key("key " + random.below(60));
			if (random.chance(25)) {
				delete(key);
				model.remove(key);
			}
			else {
				Value value = Value.of(random.bytes(random.chance(10) ? 40_000 : random.below(50)));
				put(key, value, null);
				model.put(key, value);
			}
		}

		Key start = Generator.key("key " + random.below(60));
		Key end = Generator.key("key " + random.below(60));
		NavigableMap<Key, Value> read = new TreeMap<>();
		Key next = start;
		while (next != null) {
			Entries entries = entriesOf(KeyRange.of(next.bytes(), end.bytes()), 1 + random.below(9));
			entries.entries().forEach(item -> assertThat(read.put(item.key(), ((Item) item).live().value())).isNull());
			next = entries.next();
		}
		assertThat(read).isEqualTo((start.compareTo(end) < 0) ? model.subMap(start, end) : new TreeMap<>());
	}

	/** Keys of few characters, so that prefixes and folders are shared. */
	@SeededTest
	void aListingIsThatOfASortedMap(long seed) {
		Generator random = new Generator(seed);
		NavigableMap<Key, Live> model = new TreeMap<>();
		for (int i = 0; i < 60; i++) {
			Key key = Generator.key(text(random, 1 + random.below(6)));
			String value = text(random, random.below(9));
			put(key, value);
			model.put(key, Objects.requireNonNull(get(key)));
		}
		for (int i = 0; i < 20; i++) {
			byte[] prefix = text(random, random.below(4)).getBytes(UTF_8);
			KeyFolding folding = random.chance(30) ? null
					: new KeyFolding(prefix, text(random, 1 + random.below(2)).getBytes(UTF_8));
			boolean hasValues = random.chance(50);
			long limit = random.chance(30) ? ALL : 1 + random.below(5);
			List<Line> read = new ArrayList<>();
			KeyRange rest = KeyRange.ofPrefix(prefix);
			Key next;
			do {
				Entries entries = withRange(new RangeQuery(RangeScope.CLUSTER, rest, limit, hasValues, folding),
						this::readAll);
				assertThat(entries.entries().size()).isLessThanOrEqualTo((int) Math.min(limit, 100));
				read.addAll(entries.entries());
				next = entries.next();
				rest = (next != null) ? rest.and(KeyRange.of(next.bytes(), null)) : rest;
			}
			while (next != null);

			assertThat(read).as("of %s in pieces of %d", new String(prefix, UTF_8), limit)
				.isEqualTo(listed(model, prefix, folding, hasValues));
		}
	}

	private static String text(Generator random, int length) {
		return IntStream.range(0, length)
			.mapToObj(_ -> random
				.oneOf(List.of("a", "b", "/", "\u00e9", "\u4e2d", "\uD83D\uDE00", "\uDBFF\uDFFF", "\u0000")))
			.collect(Collectors.joining());
	}

	private static List<Line> listed(NavigableMap<Key, Live> model, byte[] prefix, @Nullable KeyFolding folding,
			boolean hasValues) {
		Set<Line> lines = new LinkedHashSet<>();
		model.forEach((key, live) -> {
			if (new String(key.bytes(), UTF_8).startsWith(new String(prefix, UTF_8))) {
				Key folder = (folding != null) ? folding.folderOf(key) : null;
				lines.add((folder != null) ? new Folder(folder) : hasValues ? new Item(key, live) : new Head(key,
						live.identity(), live.contentType(), live.value().length(), live.expiresAtMillis()));
			}
		});
		return List.copyOf(lines);
	}

	@Test
	void aRangeOfANodeHasNothingThatTheRangeOfTheClusterHasNot() {
		for (int i = 0; i < 20; i++) {
			put(Generator.key("key " + i), "value");
		}
		List<Line> cluster = entriesOf(KeyRange.all(), ALL).entries();
		List<Line> node = withRange(RangeScope.NODE, KeyRange.all(), ALL, this::readAll).entries();

		assertThat(cluster).containsAll(node);
		assertThat(node).extracting(Line::key).isSorted();
	}

	@Test
	void aRangeTooManyIsRefusedAndEachCloseMakesRoomForOneMoreOnce() {
		List<RangeCursor> open = new ArrayList<>();
		this.notes.all.clear();
		OperationFailedException refused = openUntilRefused(open);
		assertThat(refused.kind()).isEqualTo(Kind.NOT_ACCEPTED);
		assertThat(refused).matches(this::isNotBegun);
		assertThat(open).isNotEmpty();
		assertThat(this.notes.all).as("the refused one has not begun").hasSameSizeAs(open);

		RangeCursor closed = open.removeLast();
		close(closed);
		close(closed);
		open.add(open(RangeScope.CLUSTER, KeyRange.all(), ALL));
		assertThatExceptionOfType(OperationFailedException.class)
			.isThrownBy(() -> open(RangeScope.CLUSTER, KeyRange.all(), ALL));
		open.forEach(this::close);
	}

	private OperationFailedException openUntilRefused(List<RangeCursor> open) {
		try {
			while (open.size() < TOO_MANY_RANGES) {
				open.add(open(RangeScope.CLUSTER, KeyRange.all(), ALL));
			}
		}
		catch (OperationFailedException ex) {
			return ex;
		}
		return fail("%d ranges are open and none was refused", TOO_MANY_RANGES);
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
	void aRangeIsReportedOnceWithItsOutcome() {
		put(KEY, "value");
		for (RangeScope scope : RangeScope.values()) {
			this.notes.all.clear();
			RangeCursor read = open(scope, KeyRange.all(), ALL);
			readAll(read);
			close(read);
			close(read);
			assertThat(this.notes.all).containsExactly("began " + scope, "ended COMPLETE");

			this.notes.all.clear();
			close(open(scope, KeyRange.all(), ALL));
			assertThat(this.notes.all).containsExactly("began " + scope, "ended CANCELLED");
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

	@Test
	void aRangeOfABrokenStoreFails() {
		put(KEY, "value");
		this.notes.all.clear();
		breakDown();

		withRange(KeyRange.all(), ALL, cursor -> assertThatExceptionOfType(OperationFailedException.class)
			.isThrownBy(() -> await(cursor.next())));
		assertThat(this.notes.all).containsExactly("began CLUSTER", "ended FAILED");
	}

	private Replicas defaults() {
		return store().policy().defaults();
	}

	private Replicas allReplicas() {
		int nodes = store().policy().nodes();
		return new Replicas(nodes, nodes);
	}

	private static Value value(String text) {
		return Value.of(text.getBytes(StandardCharsets.UTF_8));
	}

	private static KeyRange range(String start, @Nullable String end) {
		return KeyRange.of(start.getBytes(StandardCharsets.UTF_8),
				(end != null) ? end.getBytes(StandardCharsets.UTF_8) : null);
	}

	private <T> @Nullable T await(Mono<T> operation) {
		return Awaited.of(operation.subscribeOn(caller()));
	}

	private @Nullable Live get(Key key) {
		return await(store().get(key, defaults(), OperationObserver.NONE));
	}

	private @Nullable Value valueOf(Key key) {
		Live live = get(key);
		return (live != null) ? live.value() : null;
	}

	private Version put(Key key, String text) {
		return put(key, value(text), null);
	}

	private Version put(Key key, Value value, @Nullable Ttl ttl) {
		return written(await(store().put(key, defaults(), TYPE, value, ttl, OperationObserver.NONE)));
	}

	private Version delete(Key key) {
		return written(await(store().delete(key, defaults(), OperationObserver.NONE)));
	}

	private static Version written(@Nullable Version version) {
		return (version != null) ? version : fail("no version");
	}

	private RangeCursor open(RangeScope scope, KeyRange range, long limit) {
		return open(RangeQuery.of(scope, range, limit));
	}

	private RangeCursor open(RangeQuery query) {
		RangeCursor cursor = await(Mono.fromSupplier(() -> store().range(query, this.notes)));
		return (cursor != null) ? cursor : fail("no range");
	}

	private void close(RangeCursor cursor) {
		await(Mono.fromRunnable(cursor::close));
	}

	private <T> T withRange(KeyRange range, long limit, Use<T> use) {
		return withRange(RangeScope.CLUSTER, range, limit, use);
	}

	private <T> T withRange(RangeScope scope, KeyRange range, long limit, Use<T> use) {
		return withRange(RangeQuery.of(scope, range, limit), use);
	}

	private <T> T withRange(RangeQuery query, Use<T> use) {
		RangeCursor cursor = open(query);
		try {
			return use.of(cursor);
		}
		finally {
			close(cursor);
		}
	}

	private Entries entriesOf(KeyRange range, long limit) {
		return withRange(range, limit, this::readAll);
	}

	private List<Key> keysOf(KeyRange range) {
		return entriesOf(range, ALL).keys();
	}

	private RangePiece next(RangeCursor cursor) {
		RangePiece piece = await(cursor.next());
		return (piece != null) ? piece : fail("no piece");
	}

	private Entries readAll(RangeCursor cursor) {
		List<Line> entries = new ArrayList<>();
		while (true) {
			RangePiece piece = next(cursor);
			entries.addAll(piece.lines());
			if (piece.last()) {
				return new Entries(entries, piece.next());
			}
			assertThat(piece.next()).as("only the last piece names a key").isNull();
		}
	}

	/** Uses an open range. */
	private interface Use<T> {

		T of(RangeCursor cursor);

	}

	/** The entries of all pieces of a range, and the first key beyond its limit. */
	private record Entries(List<Line> entries, @Nullable Key next) {

		List<Key> keys() {
			return this.entries.stream().map(Line::key).toList();
		}

	}

	/** Notes the begin and the outcome of operations, and the ends of each call. */
	private static final class Notes implements OperationObserver {

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
