package io.kvorum.transport;

import reactor.core.publisher.Mono;

/** The status report of this node, for other nodes. */
@FunctionalInterface
public interface OwnReport {

	/** Returns the report as JSON. Its data is read on a thread that may block. */
	Mono<String> toJson();

}
