package io.kvorum.transport;

import reactor.core.publisher.Mono;

/** What this node is, for other nodes. */
@FunctionalInterface
public interface OwnReport {

	/** Returns it as JSON. What it takes is read on a thread that may block. */
	Mono<String> toJson();

}
