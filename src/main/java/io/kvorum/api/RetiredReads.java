package io.kvorum.api;

import io.kvorum.kv.Replicas;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.Newest;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import reactor.core.publisher.Mono;

/**
 * Reads for gateways that take keys over from this node: from all replicas, but for those
 * that are known to be away, and from a majority at least. So a gateway also finds a
 * write that was acknowledged by few of them, and a majority has that afterwards: two
 * gateways that take a key over at the same time do not find different entries.
 * <p>
 * A replica that is only slow fails the read. Otherwise an entry that only this replica
 * holds would be reported as absent, and stay absent at the gateway.
 */
final class RetiredReads {

	private final KeyValueStore store;

	RetiredReads(KeyValueStore store) {
		this.store = store;
	}

	Mono<Newest> read(EntityRequest request, OperationObserver observer) {
		Replicas majority = this.store.policy().defaults();
		return read(request, majority.from(), majority, observer);
	}

	private Mono<Newest> read(EntityRequest request, int ack, Replicas majority, OperationObserver observer) {
		if (ack <= majority.ack()) {
			return this.store.newest(request.key(), majority, request.timeout(), observer);
		}
		return this.store
			.newest(request.key(), new Replicas(ack, majority.from()), request.timeout(), OperationObserver.NONE)
			.onErrorResume(OperationFailedException.class,
					ex -> ex.isOfAbsence() ? read(request, ack - 1, majority, observer) : Mono.error(ex));
	}

}
