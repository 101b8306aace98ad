package io.kvorum.samples.service;

import java.time.Duration;

import io.kvorum.client.Entities;
import io.kvorum.client.Entity;
import io.kvorum.client.JsonCodec;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.Range;
import io.kvorum.client.WriteOptions;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** Orders have keys {@code orders/<article>/<id>}, so those of an article are a range. */
@Service
class Orders {

	/**
	 * With {@code once()} a write is repeated even if nobody knows whether it happened.
	 */
	private static final WriteOptions CREATE = WriteOptions.DEFAULTS.ifAbsent().once().ttl(Duration.ofDays(30));

	private final Entities<Order> orders;

	private final Entities<Long> views;

	Orders(KvorumClient client, JsonMapper mapper) {
		this.orders = client.entities(JsonCodec.of(mapper, Order.class));
		this.views = client.entities(JsonCodec.of(mapper, Long.class));
	}

	/** Ends in {@code ConditionNotMet} if there is such an order. */
	Mono<Void> create(String article, String id, Order order) {
		return this.orders.put(key(article) + id, order, CREATE).then();
	}

	Mono<Order> find(String article, String id) {
		return this.orders.get(key(article) + id).map(Entity::value);
	}

	/** Counts a view, and returns how many there are now. */
	Mono<Long> view(String article) {
		return this.views.update("views/" + article, count -> (count != null) ? count + 1 : 1L).map(Entity::value);
	}

	/** Reads all orders of the article, so all instances share the result for a while. */
	@Cacheable(cacheNames = Caching.AMOUNTS, sync = true)
	public Mono<Long> amountOf(String article) {
		return amount(key(article));
	}

	Mono<Long> amountOfAll() {
		return amount("orders/");
	}

	private Mono<Long> amount(String prefix) {
		return this.orders.range(Range.prefix(prefix)).reduce(0L, (sum, order) -> sum + order.value().amount());
	}

	private static String key(String article) {
		return "orders/" + article + '/';
	}

}
