package io.kvorum.operation;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyFolding;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.RangePiece.Folder;
import io.kvorum.operation.RangePiece.Head;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;

/** The promises of {@link KeyValueStore} of a store that has ranges. */
public abstract class RangeStoreContract extends KeyValueStoreContract {

	private static final long ALL = Long.MAX_VALUE;

	/** More ranges than any store opens at a time. */
	private static final int TOO_MANY_RANGES = 10_000;

	@Test
	void piecesOfARangeArriveOnTheExecutorOfTheCaller() {
		Thread caller = await(Mono.fromSupplier(Thread::currentThread));

		withRange(KeyRange.all(), ALL, cursor -> assertThat(threadOf(cursor.next())).isSameAs(caller));
	}

	@Test
	void whatIsRememberedOfRequestsIsInNoRange() {
		putOnce("request", "value");

		assertThat(keysOf(KeyRange.all())).containsExactly(KEY);
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
	void aRangeOfABrokenStoreFails() {
		put(KEY, "value");
		this.notes.all.clear();
		breakDown();

		withRange(KeyRange.all(), ALL, cursor -> assertThatExceptionOfType(OperationFailedException.class)
			.isThrownBy(() -> await(cursor.next())));
		assertThat(this.notes.all).containsExactly("began CLUSTER", "ended FAILED");
	}

	private static KeyRange range(String start, @Nullable String end) {
		return KeyRange.of(start.getBytes(StandardCharsets.UTF_8),
				(end != null) ? end.getBytes(StandardCharsets.UTF_8) : null);
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

}
