package io.kvorum.simulation;

import java.util.concurrent.CompletionStage;

import io.kvorum.storage.NodeRecord;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What a node remembers of itself, on a simulated disk. */
final class SimulatedRecord implements NodeRecord {

	private final SimulatedDisk disk;

	SimulatedRecord(SimulatedDisk disk) {
		this.disk = disk;
	}

	@Override
	public long identity() {
		return this.disk.content().identity;
	}

	@Override
	public long clockBoundMillis() {
		return this.disk.boundMillis();
	}

	@Override
	public CompletionStage<?> storeClockBound(long millis) {
		return this.disk.storeBound(millis);
	}

	@Override
	public boolean isNew() {
		return this.disk.content().isNew;
	}

	@Override
	public byte @Nullable [] recorded(String name) {
		return this.disk.content().records.get(name);
	}

	@Override
	public Mono<Void> record(String name, byte[] value) {
		return this.disk.write(() -> {
			this.disk.content().records.put(name, value);
			return true;
		}).then();
	}

}
