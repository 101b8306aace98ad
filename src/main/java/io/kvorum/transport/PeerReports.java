package io.kvorum.transport;

import reactor.core.publisher.Mono;

/** Fetches the status reports of other nodes. */
@FunctionalInterface
public interface PeerReports {

	/**
	 * Asks a node for its report. Has no time limit.
	 * @return its {@link PlainAnswers#report()}; an error if it does not answer, or is of
	 * a release that has none
	 */
	Mono<String> of(String address);

}
