package io.kvorum.transport;

import io.kvorum.cluster.Member;
import io.kvorum.transport.Handshake.Opening;
import io.kvorum.transport.Handshake.Side;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

/**
 * A call by which two nodes tell each other something in text. It needs no stream: the
 * nodes may have different topologies, or one of them none. Both prove the secret, if
 * there is one, together with what they say.
 */
enum PlainCall {

	/** Which layout each of the two nodes knows. */
	LAYOUT("/replica/layout"),

	/** What the called node is, as JSON. The text of the calling node is empty. */
	REPORT("/replica/report");

	private final String path;

	PlainCall(String path) {
		this.path = path;
	}

	/** The path on the replica port. */
	String path() {
		return this.path;
	}

	/** Sends the text to a node and returns its answer. */
	Mono<String> of(WebClient client, Handshake handshake, Member self, Member peer, boolean isSecure, String text) {
		Mono<String> challenge = handshake.isNeeded() ? client.get()
			.uri(ReplicaProtocol.url(peer, isSecure, ReplicaProtocol.CHALLENGE_PATH))
			.retrieve()
			.bodyToMono(String.class) : Mono.just("");
		return challenge.flatMap(given -> {
			Opening opening = new Opening(given, handshake.isNeeded() ? handshake.nonce() : "", self.address(),
					peer.address(), name(), Handshake.hashOf(text));
			return client.post()
				.uri(ReplicaProtocol.url(peer, isSecure, this.path))
				.contentType(MediaType.TEXT_PLAIN)
				.headers(headers -> addHeaders(headers, opening, handshake))
				.bodyValue(text)
				.exchangeToMono(response -> answer(response, opening, handshake));
		});
	}

	private static void addHeaders(HttpHeaders headers, Opening opening, Handshake handshake) {
		headers.set(ReplicaProtocol.FROM_HEADER, opening.from());
		headers.set(ReplicaProtocol.TO_HEADER, opening.to());
		headers.set(ReplicaProtocol.LANE_HEADER, opening.lane());
		if (handshake.isNeeded()) {
			headers.set(ReplicaProtocol.CHALLENGE_HEADER, opening.challenge());
			headers.set(ReplicaProtocol.NONCE_HEADER, opening.nonce());
			headers.set(ReplicaProtocol.TEXT_HEADER, opening.topology());
			headers.set(ReplicaProtocol.PROOF_HEADER, handshake.proof(Side.CALLER, opening));
		}
	}

	private static Mono<String> answer(ClientResponse response, Opening opening, Handshake handshake) {
		String proof = response.headers().asHttpHeaders().getFirst(ReplicaProtocol.PROOF_HEADER);
		int status = response.statusCode().value();
		return response.bodyToMono(String.class).defaultIfEmpty("status " + status).flatMap(body -> {
			if (status != HttpStatus.OK.value()) {
				return Mono.error(new IllegalStateException(ReplicaProtocol.printable(body)));
			}
			return (!handshake.isNeeded()
					|| handshake.isProof(proof, Side.CALLED, opening.about(Handshake.hashOf(body)))) ? Mono.just(body)
							: Mono
								.error(new IllegalStateException(opening.to() + " has another kvorum.cluster.secret"));
		});
	}

}
