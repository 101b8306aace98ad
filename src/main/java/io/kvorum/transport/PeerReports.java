package io.kvorum.transport;

import reactor.core.publisher.Mono;

/** What other nodes are, as they tell it. */
@FunctionalInterface
public interface PeerReports {

	/**
	 * Asks a node what it is. Has no time limit.
	 * @return its {@link PlainAnswers#report()}; an error if it does not answer, or is of
	 * a release that has none
	 */
	Mono<String> of(String address);

}
