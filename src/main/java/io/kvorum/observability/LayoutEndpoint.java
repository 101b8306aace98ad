package io.kvorum.observability;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.cluster.TopologyChange;
import io.kvorum.cluster.TopologyChange.Share;
import io.kvorum.cluster.TopologyEdit;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.layout.LayoutAdmin;
import io.kvorum.layout.LayoutNode;
import io.kvorum.layout.LayoutRefusedException;
import io.kvorum.operation.OperationFailedException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Endpoint that shows the nodes of the cluster as they were decided, and changes them
 * while it serves. Not exposed by default.
 */
@Endpoint(id = "layout")
final class LayoutEndpoint {

	private static final int ACCEPTED = 202;

	private static final int CONFLICT = 409;

	private static final int UNPROCESSABLE = 422;

	private static final int UNAVAILABLE = 503;

	private final @Nullable LayoutNode node;

	private final @Nullable LayoutAdmin admin;

	private final JsonMapper json;

	/** The endpoint of a node; of one without a replica address if both are null. */
	LayoutEndpoint(@Nullable LayoutNode node, @Nullable LayoutAdmin admin, JsonMapper json) {
		this.json = json;
		this.node = node;
		this.admin = admin;
	}

	/** The last decision, and what moves. */
	@ReadOperation
	Mono<WebEndpointResponse<Object>> show() {
		LayoutAdmin admin = this.admin;
		return (admin == null) ? none() : answered(admin.show(), WebEndpointResponse.STATUS_OK);
	}

	/**
	 * Changes the nodes by one step.
	 * @param stage the edit to stage, as JSON ({@link NestedJson}): {@code add},
	 * {@code remove}, {@code replace}, {@code factor}
	 * @param apply the number under which the topology to change to is staged
	 * @param abort true to give up a change, or what is staged
	 */
	@WriteOperation
	Mono<WebEndpointResponse<Object>> change(@Nullable String stage, @Nullable Long apply, @Nullable Boolean abort) {
		LayoutAdmin admin = this.admin;
		if (admin == null) {
			return none();
		}
		int steps = ((stage != null) ? 1 : 0) + ((apply != null) ? 1 : 0) + (Boolean.TRUE.equals(abort) ? 1 : 0);
		if (steps != 1) {
			return Mono.just(problem(WebEndpointResponse.STATUS_BAD_REQUEST,
					"Give one of 'stage', 'apply' and 'abort': {\"stage\":{\"add\":[{\"address\":\"http://host:port\"}]}}, {\"apply\":<number of what is staged>} or {\"abort\":true}."));
		}
		try {
			return answered(
					(stage != null) ? admin.stage(editOf(stage)) : (apply != null) ? admin.apply(apply) : admin.abort(),
					ACCEPTED);
		}
		catch (IllegalArgumentException ex) {
			return Mono.just(problem(WebEndpointResponse.STATUS_BAD_REQUEST, String.valueOf(ex.getMessage())));
		}
	}

	private Mono<WebEndpointResponse<Object>> answered(Mono<LayoutDecision> decision, int status) {
		LayoutNode node = this.node;
		String outside = (node != null && node.layout() == null) ? node.outside() : null;
		if (outside != null) {
			return Mono.just(problem(CONFLICT, outside));
		}
		// To say what moves takes up to seconds, for many nodes with weights.
		return decision.publishOn(Schedulers.boundedElastic())
			.map(it -> new WebEndpointResponse<Object>(describe(it), status))
			.onErrorResume(LayoutRefusedException.class,
					ex -> Mono
						.just(problem(ex.isConflict() ? CONFLICT : UNPROCESSABLE, String.valueOf(ex.getMessage()))))
			.onErrorResume(OperationFailedException.class, ex -> Mono.just(problem(UNAVAILABLE,
					"Too few nodes answer to read or change the layout, try again: " + ex.getMessage())));
	}

	private static Mono<WebEndpointResponse<Object>> none() {
		return Mono.just(problem(CONFLICT,
				"This node has no replica address, so it can have no peers: start it with kvorum.cluster.self and with kvorum.cluster.nodes, a list of one."));
	}

	private static WebEndpointResponse<Object> problem(int status, String detail) {
		return Problems.of(status, "layout", "Layout", detail);
	}

	private TopologyEdit editOf(String text) {
		@Nullable Map<String, Object> stage;
		try {
			stage = this.json.readValue(text, new TypeReference<>() {
			});
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException("'stage' is an object: " + ex.getOriginalMessage(), ex);
		}
		if (stage == null) {
			throw new IllegalArgumentException("'stage' is an object, not null.");
		}
		List<TopologyEdit.Node> add = new ArrayList<>();
		List<String> remove = new ArrayList<>();
		Integer factor = null;
		for (Map.Entry<String, Object> part : stage.entrySet()) {
			switch (part.getKey()) {
				case "add" -> listOf("add", part.getValue()).forEach(node -> add.add(nodeOf(node)));
				case "remove" -> listOf("remove", part.getValue()).forEach(name -> remove.add(String.valueOf(name)));
				case "replace" -> listOf("replace", part.getValue()).forEach(pair -> {
					Map<?, ?> named = itemOf("replace", pair, List.of("dead", "by", "zone", "weight"));
					remove.add(text(named, "dead"));
					add.add(new TopologyEdit.Node(text(named, "by"), textOrNull(named, "zone"),
							number(named, "weight")));
				});
				case "factor" -> factor = number(stage, "factor");
				default -> throw new IllegalArgumentException(
						"'stage' has no '%s': it has 'add', 'remove', 'replace' and 'factor'."
							.formatted(part.getKey()));
			}
		}
		return new TopologyEdit(add, remove, factor);
	}

	private static List<?> listOf(String name, Object value) {
		if (value instanceof List<?> list) {
			return list;
		}
		throw new IllegalArgumentException("'%s' is a list.".formatted(name));
	}

	/** An item of a list: an object with these attributes, or some of them. */
	private static Map<?, ?> itemOf(String name, Object value, List<String> attributes) {
		if (!(value instanceof Map<?, ?> item)) {
			throw new IllegalArgumentException("An item of '%s' is an object.".formatted(name));
		}
		for (Object attribute : item.keySet()) {
			if (!attributes.contains(String.valueOf(attribute))) {
				throw new IllegalArgumentException(
						"An item of '%s' has no '%s': it has %s.".formatted(name, attribute, attributes));
			}
		}
		return item;
	}

	private static TopologyEdit.Node nodeOf(Object value) {
		Map<?, ?> node = itemOf("add", value, List.of("address", "zone", "weight"));
		return new TopologyEdit.Node(text(node, "address"), textOrNull(node, "zone"), number(node, "weight"));
	}

	private static String text(Map<?, ?> of, String name) {
		String text = textOrNull(of, name);
		if (text == null) {
			throw new IllegalArgumentException("'%s' is missing in %s.".formatted(name, of));
		}
		return text;
	}

	private static @Nullable String textOrNull(Map<?, ?> of, String name) {
		Object value = of.get(name);
		return (value != null) ? String.valueOf(value) : null;
	}

	private static @Nullable Integer number(Map<?, ?> of, String name) {
		Object value = of.get(name);
		if (value == null || value instanceof Integer) {
			return (Integer) value;
		}
		throw new IllegalArgumentException("'%s' is a whole number, not %s.".formatted(name, value));
	}

	private Map<String, Object> describe(LayoutDecision decision) {
		Layout layout = decision.layout();
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("version", decision.number());
		body.put("layout", layout.number());
		boolean isSettled = this.node == null || this.node.isSettled();
		body.put("state", (layout.isMoving() || !isSettled) ? "moving" : "stable");
		body.put("factor", layout.before().wantedFactor());
		body.put("members", members(layout.before()));
		if (layout.isMoving()) {
			body.put("next", topology(layout.after()));
			body.put("moving", moving(layout.before(), layout.after()));
		}
		Topology staged = decision.staged();
		if (staged != null) {
			Map<String, Object> next = topology(staged);
			next.put("moves", moves(layout.topology(), staged));
			body.put("staged", next);
		}
		return body;
	}

	private static Map<String, Object> topology(Topology topology) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("factor", topology.wantedFactor());
		described.put("members", members(topology));
		return described;
	}

	private static List<Map<String, Object>> members(Topology topology) {
		return topology.members().stream().map(LayoutEndpoint::describe).toList();
	}

	private static Map<String, Object> describe(Member member) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("node", Long.toHexString(member.id()));
		described.put("address", member.address());
		if (!member.zone().isEmpty()) {
			described.put("zone", member.zone());
		}
		described.put("weight", member.weight());
		return described;
	}

	private Map<String, Object> moving(Topology before, Topology after) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("moves", moves(before, after));
		ChangeStatus status = (this.node != null) ? this.node.change() : null;
		if (status != null) {
			described.putAll(status.describe());
		}
		return described;
	}

	/** The partitions that each node gains and gives up, by its address. */
	private static Map<String, Object> moves(Topology before, Topology after) {
		TopologyChange change = TopologyChange.between(before, after);
		Map<String, Object> moves = new LinkedHashMap<>();
		for (Topology topology : List.of(before, after)) {
			for (Member member : topology.members()) {
				Share share = change.shareOf(member.id());
				moves.put(member.address(), Map.of("gainsPartitions", share.gained().cardinality(), "givesUpPartitions",
						share.lost().cardinality()));
			}
		}
		return moves;
	}

}
