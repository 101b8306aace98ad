package io.kvorum.cassandra;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.Newest;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.WriteOptions;
import io.kvorum.testing.Awaited;
import io.kvorum.testing.Poll;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The same contract while keys are taken over, and what is taken over. */
@Tag("cassandra")
@DisplayName("The store in Cassandra keeps the contract while it takes keys over, each of them once")
class TakeoverStoreIT extends CassandraStoreIT {

	private static final Replicas DEFAULT = new Replicas(1, 1);

	private static final Version OLD = new Version(77L << Version.COUNTER_BITS, 3);

	private final Source source = new Source();

	private @Nullable CassandraStore taking;

	@BeforeEach
	void begin() {
		this.taking = gateway();
	}

	@Override
	protected KeyValueStore store() {
		if (this.taking == null) {
			throw new IllegalStateException("there is no store");
		}
		return this.taking;
	}

	private CassandraStore gateway() {
		Takeover takeover = new Takeover(this.source, time());
		Awaited.of(takeover.begin());
		return storeWith(takeover);
	}

	private static Key key(String text) {
		return Key.of(text.getBytes(StandardCharsets.UTF_8));
	}

	private @Nullable Live read(String key) {
		return Awaited.of(store().get(key(key), DEFAULT, OperationObserver.NONE));
	}

	private @Nullable Version put(String key, Condition condition, @Nullable Ttl ttl) {
		return Awaited.of(store().put(key(key), WriteOptions.of(DEFAULT, condition), "text/new",
				Value.of("new".getBytes(StandardCharsets.UTF_8)), ttl, OperationObserver.NONE));
	}

	@Test
	@DisplayName("an entry is taken over as it is: value, version, content type, expiry")
	void whole() {
		this.source.has("key", Live.NEVER);
		this.source.has("brief", time().millis() + 5_000);
		// Larger than what a gateway takes from a client.
		this.source.has("large",
				Newest.of(new Live(OLD, Copies.DEFAULT, Live.NEVER, "text/old", Value.of(new byte[4 << 20]))));

		for (String from : List.of("the nodes", "Cassandra")) {
			this.source.entries
				.forEach((key, found) -> assertThat(read(key)).as("%s, from %s", key, from).isEqualTo(found.live()));
		}
		assertThat(this.source.reads.get()).isEqualTo(3);
		pass(Duration.ofSeconds(5));
		assertThat(read("brief")).isNull();
		assertThat(read("key")).isNotNull();
	}

	@Test
	@DisplayName("a key is read there once, whether it has a value or not")
	void once() {
		this.source.has("key", Live.NEVER);
		for (int i = 0; i < 3; i++) {
			assertThat(read("key")).isNotNull();
			assertThat(read("none")).isNull();
		}
		assertThat(this.source.reads.get()).isEqualTo(2);
	}

	@Test
	@DisplayName("what was deleted, has expired or was overwritten does not come back")
	void stays() {
		for (String key : Set.of("deleted", "expired", "overwritten")) {
			this.source.has(key, Live.NEVER);
		}
		Awaited.of(store().delete(key("deleted"), DEFAULT, OperationObserver.NONE));
		Version second = put("overwritten", Condition.NONE, null);
		put("expired", Condition.NONE, Ttl.parse("2s"));
		pass(Duration.ofSeconds(3));

		assertThat(read("deleted")).isNull();
		assertThat(read("expired")).isNull();
		assertThat(read("overwritten")).extracting(Live::identity).isEqualTo(second);
	}

	@Test
	@DisplayName("a condition is judged by the entry that was taken over")
	void conditions() {
		this.source.has("key", Live.NEVER);
		this.source.has("other", Live.NEVER);
		assertThatThrownBy(() -> put("key", new Condition(null, Tags.ANY), null))
			.isInstanceOfSatisfying(ConditionNotMetException.class, ex -> assertThat(ex.current()).isEqualTo(OLD));
		put("other", new Condition(new Tags(false, Set.of(OLD)), null), null);
		assertThat(read("key")).extracting(Live::identity).isEqualTo(OLD);
		assertThat(read("other")).extracting(Live::contentType).isEqualTo("text/new");
	}

	@Test
	@DisplayName("what another gateway writes that takes nothing over any more is found at once")
	void besideOneThatTakesNothingOver() {
		this.source.has("deleted", new Newest(OLD, null));
		KeyValueStore after = storeWith(null);
		for (String key : List.of("new", "deleted")) {
			Version written = Awaited.of(after.put(key(key), WriteOptions.of(DEFAULT), "text/new",
					Value.of(new byte[0]), null, OperationObserver.NONE));
			assertThat(read(key)).as(key).extracting(Live::identity).isEqualTo(written);
		}
	}

	@Test
	@DisplayName("of two gateways that take a key over at once none undoes what came after")
	void twoGateways() {
		CassandraStore other = gateway();
		for (int i = 0; i < 20; i++) {
			String key = "key" + i;
			this.source.has(key, Live.NEVER);
			Mono<Version> write = store().put(key(key), WriteOptions.of(DEFAULT), "text/new", Value.of(new byte[0]),
					null, OperationObserver.NONE);
			Awaited.of(Flux.merge(other.get(key(key), DEFAULT, OperationObserver.NONE), write).collectList());
			assertThat(read(key)).extracting(Live::contentType).isEqualTo("text/new");
		}
	}

	@Test
	@DisplayName("a gateway that is late with what it has read there does not bring it back")
	void late() throws Exception {
		this.source.has("written", Live.NEVER);
		this.source.has("deleted", Live.NEVER);
		CassandraStore slow = gateway();
		Sinks.Empty<Void> gate = Sinks.empty();
		this.source.gate = gate.asMono();
		List<CompletableFuture<Live>> reads = Stream.of("written", "deleted")
			.map(key -> slow.get(key(key), DEFAULT, OperationObserver.NONE).toFuture())
			.toList();
		Poll.until(() -> "the slow gateway reads at the nodes", Duration.ofSeconds(30),
				() -> this.source.reads.get() == 2);
		this.source.gate = Mono.empty();
		Version second = put("written", Condition.NONE, null);
		Awaited.of(store().delete(key("deleted"), DEFAULT, OperationObserver.NONE));

		gate.tryEmitEmpty();
		// They began before the writes, and may answer what was there then.
		assertThat(reads.get(0).get()).extracting(Live::identity).isIn(OLD, second);
		reads.get(1).get();
		assertThat(read("written")).extracting(Live::identity).isEqualTo(second);
		assertThat(read("deleted")).isNull();
	}

	@Test
	@DisplayName("of what two gateways find there at different times the newest stays, also if the other one is late")
	void different() throws Exception {
		Version later = new Version(OLD.timestamp() + (1 << Version.COUNTER_BITS), 1);
		Live older = Source.entry(OLD, "older", Live.NEVER);
		Live newer = Source.entry(later, "newer", Live.NEVER);
		Map<String, List<Newest>> found = Map.of("deleted", List.of(Newest.of(older), new Newest(later, null)),
				"written", List.of(new Newest(OLD, null), Newest.of(newer)), "replaced",
				List.of(Newest.of(older), Newest.of(newer)));
		found.forEach((key, both) -> this.source.has(key, both.getFirst()));
		CassandraStore slow = gateway();
		Sinks.Empty<Void> gate = Sinks.empty();
		this.source.gate = gate.asMono();
		List<CompletableFuture<Live>> reads = found.keySet()
			.stream()
			.map(key -> slow.get(key(key), DEFAULT, OperationObserver.NONE).toFuture())
			.toList();
		Poll.until(() -> "the slow gateway reads at the nodes", Duration.ofSeconds(30),
				() -> this.source.reads.get() == found.size());
		this.source.gate = Mono.empty();
		found.forEach((key, both) -> {
			this.source.has(key, both.getLast());
			assertThat(read(key)).as(key).isEqualTo(both.getLast().live());
		});

		gate.tryEmitEmpty();
		for (CompletableFuture<Live> each : reads) {
			each.get();
		}
		found.forEach((key, both) -> assertThat(read(key)).as(key).isEqualTo(both.getLast().live()));
	}

	@Test
	@DisplayName("if the other nodes do not answer, or are not retired, nothing was done")
	void failures() {
		this.source.has("key", Live.NEVER);
		this.source.failure = "http://node cannot be reached";
		assertThatThrownBy(() -> put("key", Condition.NONE, null))
			.isInstanceOfSatisfying(OperationFailedException.class, ex -> {
				assertThat(ex.mayHaveHappened()).isFalse();
				assertThat(ex).hasMessageContaining("http://node cannot be reached");
			});
		WriteOptions named = new WriteOptions(DEFAULT, Condition.NONE, new IdempotencyKey("", "name"), null);
		assertThatThrownBy(() -> Awaited.of(store().delete(key("key"), named, OperationObserver.NONE)))
			.isInstanceOfSatisfying(OperationFailedException.class,
					ex -> assertThat(ex.mayHaveHappened()).as("an earlier request may have").isTrue());
		this.source.failure = null;
		assertThat(read("key")).isEqualTo(Source.entry(OLD, "key", Live.NEVER));

		CassandraStore early = storeWith(new Takeover(this.source, time()));
		assertThat(early.absence()).contains("not all retired");
		for (Mono<?> operation : List.of(early.get(key("key"), DEFAULT, OperationObserver.NONE),
				early.delete(key("key"), named, OperationObserver.NONE))) {
			assertThatThrownBy(() -> Awaited.of(operation)).isInstanceOfSatisfying(OperationFailedException.class,
					ex -> assertThat(ex.mayHaveHappened()).as("a client asks the next node").isFalse());
		}
	}

	/** Retired nodes that have these entries. */
	private static final class Source implements RetiredNodes {

		final Map<String, Newest> entries = new ConcurrentHashMap<>();

		final AtomicInteger reads = new AtomicInteger();

		volatile @Nullable String failure;

		/** An answer waits for it. */
		volatile Mono<Void> gate = Mono.empty();

		void has(String key, long expiresAtMillis) {
			has(key, Newest.of(entry(OLD, key, expiresAtMillis)));
		}

		void has(String key, Newest newest) {
			this.entries.put(key, newest);
		}

		static Live entry(Version version, String value, long expiresAtMillis) {
			return new Live(version, Copies.DEFAULT, expiresAtMillis, "text/old",
					Value.of(value.getBytes(StandardCharsets.UTF_8)));
		}

		@Override
		public Mono<Void> check() {
			return Mono.empty();
		}

		@Override
		public Mono<Void> read(Key key, Function<Newest, Mono<Void>> use) {
			return Mono.defer(() -> {
				this.reads.incrementAndGet();
				return (this.failure != null) ? Mono.error(new IllegalStateException(this.failure))
						: this.gate
							.then(Mono.justOrEmpty(this.entries.get(new String(key.bytes(), StandardCharsets.UTF_8))))
							.flatMap(use);
			});
		}

	}

}
