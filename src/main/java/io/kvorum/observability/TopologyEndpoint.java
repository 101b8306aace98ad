package io.kvorum.observability;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.coordination.Inspection;
import io.kvorum.coordination.Inspection.Holding;
import io.kvorum.coordination.Inspection.Whereabouts;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Lineage.Ancestor;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import io.kvorum.transport.PeerStatus;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import reactor.core.publisher.Mono;

/**
 * Endpoint that shows the nodes of the cluster and, for a key, what each node holds.
 * Shows no values. Not exposed by default.
 * <p>
 * The server decodes the parameters and replaces bytes that are no UTF-8 by U+FFFD. An id
 * with U+FFFD is refused, as it could stand for several keys. Any key can be given in
 * hexadecimal digits.
 */
@WebEndpoint(id = "topology")
final class TopologyEndpoint {

	private static final char REPLACEMENT = '\ufffd';

	private final Supplier<Layout> layout;

	private final Member self;

	private final Supplier<List<PeerStatus>> peers;

	private final Inspection inspection;

	private final Convergence convergence;

	TopologyEndpoint(Supplier<Layout> layout, Member self, Supplier<List<PeerStatus>> peers, Inspection inspection,
			Convergence convergence) {
		this.convergence = convergence;
		this.layout = layout;
		this.self = self;
		this.peers = peers;
		this.inspection = inspection;
	}

	/**
	 * The nodes of the cluster, or the holders of a key.
	 * @param id the key. An object, because the server makes a list of a repeated
	 * parameter
	 * @param hex the bytes of the key, two digits each
	 */
	@ReadOperation
	Mono<WebEndpointResponse<Object>> topology(@Nullable Object id, @Nullable Object hex) {
		if (id == null && hex == null) {
			return Mono.fromSupplier(() -> new WebEndpointResponse<>(cluster()));
		}
		return Mono.defer(() -> this.inspection.of(key(id, hex)))
			.map(found -> new WebEndpointResponse<Object>(describe(found)))
			.onErrorResume(IllegalArgumentException.class, ex -> Mono.just(Problems
				.of(WebEndpointResponse.STATUS_BAD_REQUEST, "bad-id", "Bad request", String.valueOf(ex.getMessage()))));
	}

	private Map<String, Object> cluster() {
		Layout layout = this.layout.get();
		Topology topology = layout.topology();
		Map<String, Object> states = new LinkedHashMap<>();
		for (Member member : topology.members()) {
			states.put(member.address(), "self");
		}
		this.peers.get().forEach(peer -> states.put(peer.address(), peer.describe()));
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("self", this.self.address());
		body.put("nodes", states);
		if (topology.members().stream().anyMatch(member -> !member.zone().isEmpty())) {
			body.put("zones", of(topology, Member::zone));
		}
		if (topology.members().stream().anyMatch(member -> member.weight() != 1)) {
			body.put("weights", of(topology, Member::weight));
		}
		body.put("layout", layout.number());
		body.put("replicationFactor", topology.factor());
		body.put("partitions", Partitions.COUNT);
		ChangeStatus change = this.convergence.change();
		if (change != null) {
			body.put("change", describe(topology, change));
		}
		body.put("fingerprint", HexFormat.of().toHexDigits(topology.fingerprint()));
		return body;
	}

	private static Map<String, Object> describe(Topology topology, ChangeStatus status) {
		Map<String, Object> change = new LinkedHashMap<>();
		change.put("from", addresses(topology.parts().getFirst().members()));
		change.put("to", addresses(topology.parts().getLast().members()));
		change.putAll(status.describe());
		return change;
	}

	private static List<String> addresses(List<Member> members) {
		return members.stream().map(Member::address).toList();
	}

	/** An attribute of each member, by its address. */
	private static Map<String, Object> of(Topology topology, Function<Member, Object> attribute) {
		Map<String, Object> values = new LinkedHashMap<>();
		topology.members().forEach(member -> values.put(member.address(), attribute.apply(member)));
		return values;
	}

	/**
	 * The requested key.
	 * @throws IllegalArgumentException if the parameters give no key; the message does
	 * not contain it
	 */
	private static Key key(@Nullable Object id, @Nullable Object hex) {
		if (id instanceof String text && hex == null) {
			if (text.indexOf(REPLACEMENT) >= 0) {
				throw new IllegalArgumentException(
						"The parameter 'id' has bytes that are no UTF-8, or U+FFFD. Give the bytes of the key as 'hex'.");
			}
			return keyOf(text.getBytes(StandardCharsets.UTF_8));
		}
		if (hex instanceof String digits && id == null) {
			return keyOf(bytes(digits));
		}
		throw new IllegalArgumentException("Give the key once: as 'id', or its bytes as 'hex'.");
	}

	private static byte[] bytes(String digits) {
		try {
			return HexFormat.of().parseHex(digits);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("The parameter 'hex' has two hexadecimal digits for each byte.", ex);
		}
	}

	private static Key keyOf(byte[] bytes) {
		if (bytes.length < 1 || bytes.length > Key.MAX_LENGTH_BYTES) {
			throw new IllegalArgumentException(
					"A key has 1 to %d bytes, this one has %d.".formatted(Key.MAX_LENGTH_BYTES, bytes.length));
		}
		return Key.of(bytes);
	}

	private Map<String, Object> describe(Whereabouts found) {
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("partition", found.partition());
		body.put("replicas", found.holdings().stream().map(this::describe).toList());
		return body;
	}

	private Map<String, Object> describe(Holding holding) {
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("node", holding.member().address());
		body.put("replica", holding.rank() < this.layout.get().topology().factor());
		body.put("state", (holding.failed() != null) ? holding.failed().reason().text()
				: ReplicationMeters.text(holding.state()));
		if (holding.failed() != null) {
			body.put("detail", holding.failed().detail());
		}
		Entry entry = holding.entry();
		if (entry != null) {
			body.put("version", entry.version().toHex());
			body.put("written", timeOf(entry.version()));
			body.put("copies", holding.copies());
		}
		if (entry instanceof Live live && live.expires()) {
			body.put("expires", Instant.ofEpochMilli(live.expiresAtMillis()).toString());
		}
		Version promise = holding.promise();
		if (promise != null && entry != null) {
			body.put("identity", entry.identity().toHex());
		}
		if (entry != null && entry.lineage() != null) {
			body.put("lineage", describe(entry.lineage()));
		}
		if (promise != null && !promise.equals(Version.ABSENT)) {
			body.put("promise", promise.toHex());
			body.put("promised", timeOf(promise));
		}
		return body;
	}

	private static Map<String, Object> describe(Lineage lineage) {
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("conditional", lineage.isConditional());
		body.put("proposedAgain", lineage.isProposedAgain());
		body.put("ancestors",
				lineage.ancestors()
					.stream()
					.filter(ancestor -> !ancestor.version().equals(Version.ABSENT))
					.map(TopologyEndpoint::describe)
					.toList());
		return body;
	}

	private static Map<String, Object> describe(Ancestor ancestor) {
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("version", ancestor.version().toHex());
		body.put("identity", ancestor.identity().toHex());
		return body;
	}

	private static String timeOf(Version version) {
		return Instant.ofEpochMilli(version.millis()).toString();
	}

}
