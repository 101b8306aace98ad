package io.kvorum.testing;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.kvorum.storage.NodeRecord;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What a node remembers of itself, without a disk. */
public class InMemoryRecord implements NodeRecord {

	private final long identity;

	private final Map<String, byte[]> records = new ConcurrentHashMap<>();

	private volatile long clockBoundMillis;

	/** Of a new store. */
	public InMemoryRecord(long identity) {
		this.identity = identity;
	}

	@Override
	public long identity() {
		return this.identity;
	}

	@Override
	public long clockBoundMillis() {
		return this.clockBoundMillis;
	}

	@Override
	public CompletionStage<?> storeClockBound(long millis) {
		this.clockBoundMillis = millis;
		return CompletableFuture.completedStage(millis);
	}

	@Override
	public boolean isNew() {
		return true;
	}

	@Override
	public byte @Nullable [] recorded(String name) {
		return this.records.get(name);
	}

	@Override
	public Mono<Void> record(String name, byte[] value) {
		return Mono.fromRunnable(() -> this.records.put(name, value));
	}

}
