package io.kvorum.spring.cache;

import java.time.Duration;
import java.util.function.Function;

import io.kvorum.client.Codec;
import io.kvorum.client.ReadOptions;
import io.kvorum.client.WriteOptions;
import org.jspecify.annotations.Nullable;

/**
 * What a cache is like. Immutable: each method returns other settings.
 */
public final class KvorumCacheSettings {

	private static final Duration DEFAULT_TTL = Duration.ofHours(1);

	private static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(2);

	private final Codec<Object> codec;

	private final @Nullable Duration ttl;

	private final Function<Object, String> keys;

	private final Duration deadline;

	private final boolean allowsNullValues;

	private KvorumCacheSettings(Codec<Object> codec, @Nullable Duration ttl, Function<Object, String> keys,
			Duration deadline, boolean allowsNullValues) {
		this.codec = codec;
		this.ttl = ttl;
		this.keys = keys;
		this.deadline = deadline;
		this.allowsNullValues = allowsNullValues;
	}

	/**
	 * Settings with a codec. Values last for an hour and may be null, and the application
	 * waits for 2 seconds at most.
	 * @param codec how values are stored:
	 * {@link io.kvorum.spring.codec.JsonObjectCodec#of},
	 * {@link io.kvorum.spring.codec.JsonObjectCodec#typed} or
	 * {@link io.kvorum.spring.codec.JavaObjectCodec#allowing} for instance
	 * @return the settings
	 */
	public static KvorumCacheSettings of(Codec<Object> codec) {
		return new KvorumCacheSettings(codec, DEFAULT_TTL, KeyText::of, DEFAULT_DEADLINE, true);
	}

	/**
	 * Stores values in another way. What was stored before cannot be read any more unless
	 * the codec reads it: clear the cache, or give it another name.
	 * @param codec how values are stored
	 * @return these settings, with that codec
	 */
	public KvorumCacheSettings codec(Codec<Object> codec) {
		return new KvorumCacheSettings(codec, this.ttl, this.keys, this.deadline, this.allowsNullValues);
	}

	/**
	 * How long a value lasts from when it was put: an hour.
	 * @param ttl 1 second to 3650 days
	 * @return these settings, with that time
	 * @throws IllegalArgumentException if it is out of bounds
	 */
	public KvorumCacheSettings ttl(Duration ttl) {
		WriteOptions.DEFAULTS.ttl(ttl);
		return new KvorumCacheSettings(this.codec, ttl, this.keys, this.deadline, this.allowsNullValues);
	}

	/**
	 * Values last until they are evicted. Nothing else makes room for others: Kvorum
	 * keeps what it was told to keep.
	 * @return these settings, without a time to live
	 */
	public KvorumCacheSettings withoutTtl() {
		return new KvorumCacheSettings(this.codec, null, this.keys, this.deadline, this.allowsNullValues);
	}

	/**
	 * Makes text of the keys of the application. Two keys with the same text are the same
	 * key. Text that would make the key of Kvorum longer than its 1024 bytes is replaced
	 * by its SHA-256.
	 * <p>
	 * Without this, keys are strings, numbers, booleans, characters, enums, UUIDs, URIs,
	 * dates and times, and arrays, lists and Spring's keys of several parameters made of
	 * these. Keys that are not equal never have the same text: the string {@code 1} is
	 * {@code 1}, the {@link Long} is {@code ~Long:1}, and the {@link Integer} is another
	 * key. All other classes are an {@link IllegalArgumentException}, when such a key is
	 * used first: what their {@code toString()} says may be equal for keys that are not,
	 * or never be equal.
	 * @param keys from a key to its text
	 * @return these settings, with that conversion
	 */
	public KvorumCacheSettings keys(Function<Object, String> keys) {
		return new KvorumCacheSettings(this.codec, this.ttl, keys, this.deadline, this.allowsNullValues);
	}

	/**
	 * How long each read, write or removal of a value may take: 2 seconds. To get, put or
	 * evict is one, {@code putIfAbsent} one or more. The client's own deadline is for
	 * values that are nowhere else. A {@code clear} takes as long as it has keys to
	 * remove.
	 * @param deadline of one operation with all its repeats
	 * @return these settings, with that limit
	 * @throws IllegalArgumentException if it is not positive
	 */
	public KvorumCacheSettings deadline(Duration deadline) {
		ReadOptions.DEFAULTS.deadline(deadline);
		return new KvorumCacheSettings(this.codec, this.ttl, this.keys, deadline, this.allowsNullValues);
	}

	/**
	 * Refuses to store null, by an {@link IllegalArgumentException}.
	 * @return these settings, without null values
	 */
	public KvorumCacheSettings withoutNullValues() {
		return new KvorumCacheSettings(this.codec, this.ttl, this.keys, this.deadline, false);
	}

	Codec<Object> codec() {
		return this.codec;
	}

	boolean allowsNullValues() {
		return this.allowsNullValues;
	}

	String text(Object key) {
		return this.keys.apply(key);
	}

	ReadOptions reading() {
		return ReadOptions.DEFAULTS.deadline(this.deadline);
	}

	WriteOptions writing() {
		return (this.ttl != null) ? removing().ttl(this.ttl) : removing();
	}

	WriteOptions removing() {
		return WriteOptions.DEFAULTS.deadline(this.deadline);
	}

}
