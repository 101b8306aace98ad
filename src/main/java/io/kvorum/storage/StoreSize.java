package io.kvorum.storage;

import reactor.core.publisher.Mono;

/**
 * The size of a store, to estimate what has to be copied. Sizes are those of keys and
 * encoded entries before compression, in bytes.
 */
public interface StoreSize {

	/** The size of an empty store without repairs. */
	StoreSize NONE = new StoreSize() {

		@Override
		public Mono<Long> liveBytes() {
			return Mono.just(0L);
		}

		@Override
		public long repairedBytes() {
			return 0;
		}

	};

	/** An estimate of the size of all entries that are not overwritten. */
	Mono<Long> liveBytes();

	/** The size of the entries that repairs have brought since the start. */
	long repairedBytes();

}
