package io.kvorum.cassandra;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.kvorum.cassandra.CassandraStore.Content;
import io.kvorum.cassandra.Statements.Change;
import io.kvorum.cassandra.Statements.Guard;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.IdempotencyKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("What a write compares and stores")
class KeyWriteTests {

	private static final long NOW_MILLIS = 1_800_000_000_000L;

	private static final Version ONE = new Version(NOW_MILLIS << Version.COUNTER_BITS, 1);

	private static final Version OTHER = new Version((NOW_MILLIS << Version.COUNTER_BITS) + 1, 1);

	private static final Content LASTING = new Content("text/plain", Value.of(new byte[5]), null);

	private static final Content EXPIRING = new Content("text/plain", Value.of(new byte[5]),
			new Ttl(Duration.ofHours(1)));

	/** All rows that differ in what a condition can see. A delete leaves no cell. */
	private static final List<Stored> ROWS = List.of(new Stored(null, null, null), written(ONE, LASTING, true),
			written(OTHER, LASTING, true), written(ONE, EXPIRING, true), written(ONE, EXPIRING, false),
			plainly(ONE, LASTING, true), plainly(OTHER, LASTING, true), plainly(ONE, EXPIRING, false));

	private static Stored written(Version identity, Content content, boolean isLive) {
		Change change = KeyWrite.change(identity, content, NOW_MILLIS);
		return new Stored(change.version(), change.entry(), isLive ? identity : null);
	}

	private static Stored plainly(Version identity, Content content, boolean isLive) {
		return new Stored(VersionCell.plain(), KeyWrite.change(identity, content, NOW_MILLIS).entry(),
				isLive ? identity : null);
	}

	@Test
	@DisplayName("a comparison that saves a read holds for no row for which the condition does not")
	void shortcut() {
		List<Condition> compared = new ArrayList<>();
		for (Condition condition : conditions()) {
			Guard guard = KeyWrite.shortcut(condition);
			if (guard == null) {
				continue;
			}
			compared.add(condition);
			assertThat(ROWS).filteredOn(row -> row.meets(guard))
				.as("%s by %s", condition, guard)
				.isNotEmpty()
				.allMatch(row -> condition.holdsFor(row.live()));
		}
		assertThat(compared).as("none, If-None-Match: *, and If-Match with one version")
			.containsExactlyInAnyOrder(Condition.NONE, new Condition(null, Tags.ANY), new Condition(tags(ONE), null),
					new Condition(tags(OTHER), null));
	}

	private static List<Condition> conditions() {
		List<@Nullable Tags> tags = new ArrayList<>(
				List.of(Tags.ANY, tags(ONE), tags(OTHER), tags(ONE, OTHER), new Tags(false, Set.of())));
		tags.add(null);
		return tags.stream().flatMap(match -> tags.stream().map(noneMatch -> new Condition(match, noneMatch))).toList();
	}

	private static Tags tags(Version... versions) {
		return new Tags(false, Set.of(versions));
	}

	@Test
	@DisplayName("the comparison after a read holds only as long as the entry is what was read")
	void guard() {
		for (Stored read : ROWS) {
			Guard guard = KeyWrite.guard(read.version(), read.entry());
			assertThat(ROWS).filteredOn(row -> row.meets(guard))
				.contains(read)
				.allMatch(row -> Objects.equals(row.entry(), read.entry()));
		}
	}

	@Test
	@DisplayName("Cassandra keeps what expires a minute longer, and for ever what ends after 2038")
	void expiry() {
		Change change = KeyWrite.change(ONE, EXPIRING, NOW_MILLIS);
		assertThat(change.ttlSeconds()).isEqualTo(3660);
		assertThat(expiresAtMillis(change)).isEqualTo(NOW_MILLIS + 3_600_000);
		assertThat(KeyWrite.change(ONE, LASTING, NOW_MILLIS).ttlSeconds()).isZero();
		assertThat(expiresAtMillis(KeyWrite.change(ONE, LASTING, NOW_MILLIS))).isEqualTo(Live.NEVER);
		assertThat(KeyWrite.change(ONE, null, NOW_MILLIS).entry()).isNull();

		long lastSeconds = Integer.MAX_VALUE - NOW_MILLIS / 1000 - 60;
		assertThat(KeyWrite.ttlSeconds(Duration.ofSeconds(lastSeconds - 2), NOW_MILLIS)).isEqualTo(lastSeconds + 58);
		assertThat(KeyWrite.ttlSeconds(Duration.ofSeconds(lastSeconds - 1), NOW_MILLIS)).isZero();
		assertThat(KeyWrite.ttlSeconds(Ttl.MAX, NOW_MILLIS)).isPositive();
		assertThat(KeyWrite.ttlSeconds(Ttl.MAX.multipliedBy(2), NOW_MILLIS)).isZero();
	}

	private static long expiresAtMillis(Change change) {
		return StoredEntry.decode(Objects.requireNonNull(change.entry())).expiresAtMillis();
	}

	@Test
	@DisplayName("no two idempotency keys of any two callers have the same row")
	void names() {
		assertThat(List.of(new IdempotencyKey("a", "bc"), new IdempotencyKey("ab", "c"), new IdempotencyKey("", "abc"),
				new IdempotencyKey("abc", "a"), new IdempotencyKey("\u00e4", "bc")))
			.extracting(RequestNames::bytes)
			.doesNotHaveDuplicates();
	}

	/**
	 * A row.
	 *
	 * @param live the identity that a reader gets; null if it gets nothing
	 */
	private record Stored(@Nullable ByteBuffer version, @Nullable ByteBuffer entry, @Nullable Version live) {

		/** What Cassandra says. */
		boolean meets(Guard guard) {
			return switch (guard) {
				case Guard.None _, Guard.Always _ -> true;
				case Guard.Version compared -> compared.version().equals(this.version);
				case Guard.Entry compared ->
					(compared.entry() != null) ? compared.entry().equals(this.entry) : this.entry == null;
			};
		}

	}

}
