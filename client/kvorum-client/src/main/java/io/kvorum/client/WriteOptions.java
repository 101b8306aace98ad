package io.kvorum.client;

import java.time.Duration;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * How a value is written or removed. Immutable: each method returns other options.
 */
public final class WriteOptions {

	/** Without a condition, a time to live or an idempotency key. */
	public static final WriteOptions DEFAULTS = new WriteOptions(null, null, Consistency.DEFAULT, null, false, false,
			null);

	private static final int MAX_NAME = 128;

	private final @Nullable Condition condition;

	private final @Nullable Duration ttl;

	private final Consistency consistency;

	private final @Nullable String idempotencyKey;

	private final boolean isOnce;

	private final boolean repeatsUnknown;

	private final @Nullable Duration deadline;

	private WriteOptions(@Nullable Condition condition, @Nullable Duration ttl, Consistency consistency,
			@Nullable String idempotencyKey, boolean isOnce, boolean repeatsUnknown, @Nullable Duration deadline) {
		this.condition = condition;
		this.ttl = ttl;
		this.consistency = consistency;
		this.idempotencyKey = idempotencyKey;
		this.isOnce = isOnce;
		this.repeatsUnknown = repeatsUnknown;
		this.deadline = deadline;
	}

	/**
	 * Only if the value is still this one.
	 * @param version as it was read or written
	 * @return these options, with that condition in the place of any other
	 */
	public WriteOptions ifVersion(Version version) {
		return with(Condition.is(version));
	}

	/**
	 * Only if there is no value: of all that try, one creates it.
	 * @return these options, with that condition in the place of any other
	 */
	public WriteOptions ifAbsent() {
		return with(Condition.ABSENT);
	}

	/**
	 * Only if there is a value.
	 * @return these options, with that condition in the place of any other
	 */
	public WriteOptions ifPresent() {
		return with(Condition.PRESENT);
	}

	private WriteOptions with(Condition condition) {
		return new WriteOptions(condition, this.ttl, this.consistency, this.idempotencyKey, this.isOnce,
				this.repeatsUnknown, this.deadline);
	}

	/**
	 * The value is gone after this time.
	 * @param ttl 1 second to 3650 days
	 * @return these options, with a time to live
	 * @throws IllegalArgumentException if it is out of bounds
	 */
	public WriteOptions ttl(Duration ttl) {
		if (ttl.compareTo(Duration.ofSeconds(1)) < 0 || ttl.compareTo(Duration.ofDays(3650)) > 0) {
			throw new IllegalArgumentException("a ttl is 1 second to 3650 days, not " + ttl);
		}
		return new WriteOptions(this.condition, ttl, this.consistency, this.idempotencyKey, this.isOnce,
				this.repeatsUnknown, this.deadline);
	}

	/**
	 * Waits for other replicas than a majority of the default ones.
	 * @param ack the replicas that have to store it
	 * @param from the copies that it leaves
	 * @return these options, at that level
	 */
	public WriteOptions level(int ack, int from) {
		return with(this.consistency.at(new Level(ack, from)));
	}

	/**
	 * Without an order among operations: of two writes the newer one by the clocks of the
	 * nodes stays. In front of Cassandra that is several times cheaper; a cluster of
	 * Kvorum gains nothing by it. Not with a condition, and there not with an idempotency
	 * key.
	 * @return these options, without an order
	 */
	public WriteOptions eventual() {
		return with(this.consistency.eventual());
	}

	private WriteOptions with(Consistency consistency) {
		return new WriteOptions(this.condition, this.ttl, consistency, this.idempotencyKey, this.isOnce,
				this.repeatsUnknown, this.deadline);
	}

	/**
	 * Happens once, however often it is repeated within ten minutes. So the client
	 * repeats it even if it may have happened. Costs the nodes a record for each write.
	 * @param key 1 to 128 visible ASCII characters, another one for each write
	 * @return these options, with the key of the write
	 * @throws IllegalArgumentException if the key has other characters or is too long
	 */
	public WriteOptions idempotencyKey(String key) {
		if (key.isEmpty() || key.length() > MAX_NAME || !key.chars().allMatch(c -> c > ' ' && c < 0x7F)) {
			throw new IllegalArgumentException(
					"an idempotency key is 1 to 128 visible ASCII characters, not \"%s\"".formatted(key));
		}
		return new WriteOptions(this.condition, this.ttl, this.consistency, key, false, this.repeatsUnknown,
				this.deadline);
	}

	/**
	 * As {@link #idempotencyKey(String)}, with a random key for each write. To repeat a
	 * write yourself, by {@code retryWhen} for instance, give it a key: each subscription
	 * is another write.
	 * @return these options, with a new key for each write
	 */
	public WriteOptions once() {
		return new WriteOptions(this.condition, this.ttl, this.consistency, null, true, this.repeatsUnknown,
				this.deadline);
	}

	/** These options for one write, with its idempotency key. */
	WriteOptions named() {
		return this.isOnce ? idempotencyKey(UUID.randomUUID().toString()) : this;
	}

	/**
	 * Repeated even if an earlier request of it may have happened. Harmless where all
	 * writers of the key write the same or nobody else writes it. Otherwise the second
	 * request may undo what another client wrote in between; and with a condition the
	 * client cannot tell its own write from that of another.
	 * @return these options, to be repeated
	 */
	public WriteOptions repeatUnknown() {
		return new WriteOptions(this.condition, this.ttl, this.consistency, this.idempotencyKey, this.isOnce, true,
				this.deadline);
	}

	/**
	 * Takes at most this time, with all repeats.
	 * @param deadline other than the client's
	 * @return these options, with that limit
	 */
	public WriteOptions deadline(Duration deadline) {
		return new WriteOptions(this.condition, this.ttl, this.consistency, this.idempotencyKey, this.isOnce,
				this.repeatsUnknown, Limits.positive("deadline", deadline));
	}

	WriteOptions withoutTtl() {
		return new WriteOptions(this.condition, null, this.consistency, this.idempotencyKey, this.isOnce,
				this.repeatsUnknown, this.deadline);
	}

	@Nullable Condition condition() {
		return this.condition;
	}

	@Nullable Duration ttl() {
		return this.ttl;
	}

	Consistency consistency() {
		return this.consistency;
	}

	@Nullable String idempotencyKey() {
		return this.idempotencyKey;
	}

	/** Whether it has an idempotency key, or is to have one. */
	boolean isNamed() {
		return this.isOnce || this.idempotencyKey != null;
	}

	boolean repeatsUnknown() {
		return this.repeatsUnknown || this.idempotencyKey != null;
	}

	@Nullable Duration deadline() {
		return this.deadline;
	}

}
