package io.kvorum.client.it;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;

import io.kvorum.client.BlockingEntities;
import io.kvorum.client.Codec;
import io.kvorum.client.Entities;
import io.kvorum.client.Entity;
import io.kvorum.client.EntityInfo;
import io.kvorum.client.JsonCodec;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.KvorumException.IdempotencyKeyReused;
import io.kvorum.client.KvorumException.InvalidRequest;
import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.ValueTooLarge;
import io.kvorum.client.Lease;
import io.kvorum.client.Leases;
import io.kvorum.client.Outcome;
import io.kvorum.client.Range;
import io.kvorum.client.Version;
import io.kvorum.client.WriteOptions;
import io.kvorum.test.KvorumExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@DisplayName("Each operation of the client, with three nodes")
class OperationsIT {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(3);

	private final String prefix = UUID.randomUUID() + "/";

	private final KvorumClient client = KvorumClient.builder(kvorum.urls()).build();

	private final Entities<String> texts = this.client.entities(Codec.text());

	private final BlockingEntities<String> blocking = this.texts.blocking();

	@AfterEach
	void close() {
		this.client.close();
	}

	@Test
	@DisplayName("a value, what is known of it, and that it is gone")
	void value() {
		String key = this.prefix + "grüße & \uD83D\uDE00+%";
		Version version = this.blocking.put(key, "hello", WriteOptions.DEFAULTS.ttl(Duration.ofHours(1)));

		assertThat(this.blocking.get(key)).hasValueSatisfying(entity -> {
			assertThat(entity.key()).isEqualTo(key);
			assertThat(entity.value()).isEqualTo("hello");
			assertThat(entity.version()).isEqualTo(version);
			assertThat(entity.contentType()).isEqualTo("text/plain;charset=UTF-8");
			assertThat(entity.expires()).isBetween(Instant.now().plusSeconds(3_000), Instant.now().plusSeconds(4_000));
		});
		assertThat(this.blocking.info(key)).map(EntityInfo::size).hasValue(5L);
		this.blocking.delete(key);
		assertThat(this.blocking.get(key)).isEmpty();
		assertThat(this.blocking.info(key)).isEmpty();
	}

	@Test
	@DisplayName("of clients that create a key one does, and the others are told what is there")
	void createdOnce() {
		String key = this.prefix + "once";
		List<Version> created = one(Flux.range(0, 20)
			.flatMap(i -> this.texts.put(key, "by " + i, WriteOptions.DEFAULTS.ifAbsent())
				.onErrorResume(ConditionNotMet.class, ex -> Mono.empty()))
			.collectList());

		assertThat(created).hasSize(1);
		assertThatExceptionOfType(ConditionNotMet.class)
			.isThrownBy(() -> this.blocking.put(key, "late", WriteOptions.DEFAULTS.ifAbsent()))
			.satisfies(ex -> assertThat(ex.current()).isEqualTo(created.getFirst()));
		assertThatExceptionOfType(ConditionNotMet.class)
			.isThrownBy(() -> this.blocking.delete(this.prefix + "none", WriteOptions.DEFAULTS.ifPresent()))
			.satisfies(ex -> assertThat(ex.current()).isNull());
	}

	@Test
	@DisplayName("updates: none is lost, none happens twice, though a node is killed")
	void counted() {
		Entities<Integer> counts = this.client.entities(JsonCodec.of(JsonMapper.shared(), Integer.class));
		String key = this.prefix + "count";
		Mono<Void> kill = Mono.delay(Duration.ofMillis(300)).then(Mono.fromRunnable(() -> kvorum.node(2).kill()));

		Flux.range(0, 200)
			.flatMap(i -> counts.update(key, count -> (count != null) ? count + 1 : 1,
					WriteOptions.DEFAULTS.deadline(PATIENCE)), 8)
			.then()
			.and(kill)
			.block(PATIENCE.multipliedBy(2));

		assertThat(counts.blocking().get(key)).map(Entity::value).hasValue(200);
		assertThat(counts.blocking().update(key, count -> null)).isEmpty();
		assertThat(counts.blocking().get(key)).isEmpty();
	}

	@Test
	@DisplayName("a range of 3,000 values is read to its end, in order, though a node is killed meanwhile")
	void range() {
		List<String> keys = IntStream.range(0, 3_000).mapToObj(i -> "%sitem-%05d".formatted(this.prefix, i)).toList();
		Flux.fromIterable(keys).flatMap(key -> this.texts.put(key, "v".repeat(1_000)), 32).blockLast(PATIENCE);

		List<String> read = this.texts.range(Range.prefix(this.prefix)).map(entity -> {
			if (entity.key().endsWith("item-00500")) {
				kvorum.node(1).kill();
			}
			return entity.key();
		}).collectList().block(PATIENCE);

		assertThat(read).isEqualTo(keys);
		assertThat(this.blocking.list(Range.prefix(this.prefix).startingAt(keys.get(10)).before(keys.get(20)).limit(5)))
			.extracting(EntityInfo::key)
			.isEqualTo(keys.subList(10, 15));
		assertThat(this.blocking.list(Range.prefix(this.prefix).folders("-"))).extracting(EntityInfo::key)
			.containsExactly(this.prefix + "item-");
	}

	@Test
	@DisplayName("a subscriber that takes a few and leaves is enough")
	void cancelled() {
		Flux.range(0, 100).flatMap(i -> this.texts.put(this.prefix + i, "value")).blockLast(PATIENCE);

		StepVerifier.create(this.texts.range(Range.prefix(this.prefix)), 3)
			.expectNextCount(3)
			.thenCancel()
			.verify(PATIENCE);
		assertThat(this.blocking.get(this.prefix + 1)).isPresent();
	}

	@Test
	@DisplayName("a lease: one holder, greater tokens, never that of another given back")
	void lease() {
		Leases leases = new Leases(this.client, this.prefix);
		Lease first = one(leases.tryAcquire("job", Duration.ofSeconds(30)));
		assertThat(first.remaining()).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(29));
		assertThat(leases.tryAcquire("job", Duration.ofSeconds(30)).blockOptional(PATIENCE)).isEmpty();

		Lease renewed = one(leases.renew(first, Duration.ofSeconds(30)));
		assertThat(renewed.token()).isGreaterThan(first.token());
		assertThat(one(leases.renew(first, Duration.ofSeconds(30))).token()).as("again, as if it had no answer")
			.isEqualTo(renewed.token());
		assertThat(leases.release(first).block(PATIENCE)).as("as if the renewal had no answer").isTrue();
		assertThat(leases.release(renewed).block(PATIENCE)).as("again").isFalse();

		Lease next = one(leases.tryAcquire("job", Duration.ofSeconds(2)));
		assertThat(next.token()).isGreaterThan(renewed.token());
		Lease after = leases.tryAcquire("job", Duration.ofSeconds(30))
			.repeatWhenEmpty(Integer.MAX_VALUE, times -> times.delayElements(Duration.ofMillis(100)))
			.block(PATIENCE);
		assertThat(after).as("when it has ended").isNotNull();
		assertThat(next.remaining()).isZero();
		assertThat(leases.renew(next, Duration.ofSeconds(30)).blockOptional(PATIENCE)).isEmpty();
	}

	@Test
	@DisplayName("what cannot be done says so")
	void refused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.blocking.get(""))
			.withMessageContaining("a key has 1 to 1024 bytes in UTF-8, not 0");
		assertThatIllegalArgumentException().isThrownBy(() -> this.blocking.get("ü".repeat(513)))
			.withMessageContaining("not 1026");
		assertThatIllegalArgumentException().isThrownBy(() -> this.blocking.get("half \uD83D"))
			.withMessageContaining("UTF-8");
		assertThatExceptionOfType(ValueTooLarge.class)
			.isThrownBy(() -> this.blocking.put(this.prefix + "large", "v".repeat(1 << 21)))
			.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.NOT_APPLIED))
			.withMessageContaining("kvorum.api.max-value-size");
		assertThatExceptionOfType(InvalidRequest.class)
			.isThrownBy(() -> this.blocking.put(this.prefix + "key", "value", WriteOptions.DEFAULTS.level(1, 7)))
			.satisfies(ex -> assertThat(ex.isRetryable()).isFalse());
		WriteOptions named = WriteOptions.DEFAULTS.idempotencyKey(UUID.randomUUID().toString());
		this.blocking.put(this.prefix + "named", "value", named);
		assertThat(this.blocking.put(this.prefix + "named", "value", named)).as("the same again").isNotNull();
		assertThatExceptionOfType(IdempotencyKeyReused.class)
			.isThrownBy(() -> this.blocking.put(this.prefix + "named", "other", named));
	}

	@Test
	@DisplayName("without a cluster: no answer, and nothing was done")
	void nobody() {
		try (KvorumClient lost = KvorumClient.builder("http://127.0.0.1:1").deadline(Duration.ofSeconds(1)).build()) {
			BlockingEntities<byte[]> entities = lost.entities().blocking();
			assertThatExceptionOfType(NoAnswer.class).isThrownBy(() -> entities.put("key", new byte[1]))
				.satisfies(ex -> assertThat(ex.outcome()).isEqualTo(Outcome.NOT_APPLIED))
				.withMessageContaining("http://127.0.0.1:1");
		}
	}

	private static <T> T one(Mono<T> mono) {
		return mono.blockOptional(PATIENCE).orElseThrow();
	}

	/** JSON of a record. */
	record Order(String id, Map<String, Integer> items) {
	}

	@Test
	@DisplayName("JSON values")
	void json() {
		BlockingEntities<Order> orders = this.client.entities(JsonCodec.of(JsonMapper.shared(), Order.class))
			.blocking();
		Order order = new Order("7", Map.of("apple", 3));
		orders.put(this.prefix + "order", order);

		assertThat(orders.get(this.prefix + "order")).map(Entity::value).hasValue(order);
		assertThat(this.blocking.get(this.prefix + "order")).map(Entity::contentType).hasValue("application/json");
	}

}
