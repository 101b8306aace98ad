package io.kvorum.spring.cache;

import io.kvorum.client.Codec;
import io.kvorum.client.Entities;
import io.kvorum.client.EntityInfo;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.Outcome;
import io.kvorum.client.Range;
import io.kvorum.client.ReadOptions;
import io.kvorum.client.Version;
import io.kvorum.client.WriteOptions;
import org.springframework.cache.support.NullValue;
import reactor.core.publisher.Mono;

/** The entries of a cache, by the keys of Kvorum. Null is {@link NullValue#INSTANCE}. */
final class CacheEntries {

	private static final int CONCURRENT_DELETES = 16;

	private static final int MAX_TURNS = 10;

	private final Entities<Object> values;

	private final Entities<Object> nulls;

	private final ReadOptions reading;

	private final WriteOptions writing;

	private final WriteOptions removing;

	private final boolean allowsNulls;

	CacheEntries(KvorumClient client, KvorumCacheSettings settings) {
		this.values = client.entities(new NullableCodec(settings.codec()));
		this.nulls = client.entities(new NullCodec());
		this.reading = settings.reading();
		this.writing = settings.writing();
		this.removing = settings.removing();
		this.allowsNulls = settings.allowsNullValues();
	}

	Entities<Object> values() {
		return this.values;
	}

	/**
	 * The value; empty if there is none. A null that is not allowed any more is removed:
	 * it would keep others from being put.
	 */
	Mono<Object> find(String key) {
		return this.values.get(key, this.reading)
			.flatMap(entity -> (this.allowsNulls || !(entity.value() instanceof NullValue)) ? Mono.just(entity.value())
					: remove(key, entity.version()).onErrorComplete(KvorumException.class).then(Mono.empty()));
	}

	/** Not repeated if it may have happened: it could overwrite what others put since. */
	Mono<Void> put(String key, Object value) {
		return write(key, value, this.writing).then();
	}

	/**
	 * Puts a value that was loaded, unless there is one by now; its version if it was
	 * put. The version may also be that of another one, if it cannot be told who was
	 * first.
	 */
	Mono<Version> putLoaded(String key, Object value) {
		// A repeat that finds the value of the first is told the same as one that lost.
		return write(key, value, this.writing.ifAbsent().repeatUnknown()).onErrorResume(ConditionNotMet.class,
				exists -> (exists.outcome() == Outcome.UNKNOWN) ? Mono.justOrEmpty(exists.current()) : Mono.empty());
	}

	/** Removes a value that was put, unless there is another one by now. */
	Mono<Void> remove(String key, Version version) {
		return this.values.delete(key, this.removing.ifVersion(version).once())
			.onErrorResume(ConditionNotMet.class, changed -> Mono.empty());
	}

	/** Puts a value if there is none; else the value that is there. */
	Mono<Object> putIfAbsent(String key, Object value) {
		return putIfAbsent(key, value, 1);
	}

	private Mono<Object> putIfAbsent(String key, Object value, int turn) {
		return Mono.defer(() -> write(key, value, this.writing.ifAbsent().once()))
			.then(Mono.empty())
			.onErrorResume(ConditionNotMet.class, exists -> find(key).switchIfEmpty(
					Mono.defer(() -> (turn < MAX_TURNS) ? putIfAbsent(key, value, turn + 1) : Mono.error(exists))));
	}

	private Mono<Version> write(String key, Object value, WriteOptions options) {
		Entities<Object> entities = (value instanceof NullValue) ? this.nulls : this.values;
		return entities.put(key, value, options);
	}

	Mono<Void> delete(String key) {
		return this.values.delete(key, this.removing.repeatUnknown());
	}

	Mono<Boolean> deleteIfPresent(String key) {
		return Mono.defer(() -> this.values.delete(key, this.removing.ifPresent().once()))
			.thenReturn(true)
			.onErrorResume(ConditionNotMet.class, absent -> Mono.just(false));
	}

	/** Deletes all entries that are found on the way; the result is their number. */
	Mono<Long> deleteAll(String folder) {
		return this.values.list(Range.prefix(folder))
			.map(EntityInfo::key)
			.flatMap(key -> delete(key).thenReturn(key), CONCURRENT_DELETES)
			.count();
	}

	/** Reads nulls beside other values. */
	private record NullableCodec(Codec<Object> codec) implements Codec<Object> {

		@Override
		public String contentType() {
			return this.codec.contentType();
		}

		@Override
		public byte[] encode(Object value) {
			return this.codec.encode(value);
		}

		@Override
		public Object decode(byte[] value, String contentType) {
			return contentType.startsWith(NullCodec.CONTENT_TYPE) ? NullValue.INSTANCE
					: this.codec.decode(value, contentType);
		}

	}

	/** Writes null, which is told by its type. */
	private static final class NullCodec implements Codec<Object> {

		static final String CONTENT_TYPE = "application/vnd.kvorum.null";

		@Override
		public String contentType() {
			return CONTENT_TYPE;
		}

		@Override
		public byte[] encode(Object value) {
			return new byte[0];
		}

		@Override
		public Object decode(byte[] value, String contentType) {
			return NullValue.INSTANCE;
		}

	}

}
