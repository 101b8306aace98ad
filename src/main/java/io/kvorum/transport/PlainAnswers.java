package io.kvorum.transport;

import reactor.core.publisher.Mono;

/** Answers what other nodes ask without a stream. */
public interface PlainAnswers {

	/**
	 * Learns the layout that another node knows, and returns that of this one.
	 * @param theirs the text of a layout, or of a node without one
	 */
	String exchangeLayouts(String theirs);

	/** Returns the {@link OwnReport}. */
	Mono<String> report();

}
