package io.kvorum.observability;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.cluster.TopologyChange;
import io.kvorum.cluster.TopologyChange.Share;
import io.kvorum.cluster.TopologyEdit;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.CopyProgress;
import io.kvorum.convergence.change.CopyProgress.OfNode;
import io.kvorum.layout.LayoutAdmin;
import io.kvorum.layout.LayoutNode;
import io.kvorum.layout.LayoutNode.Store;
import io.kvorum.layout.LayoutRefusedException;
import io.kvorum.operation.OperationFailedException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

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

	private static final int TIMEOUT = 504;

	/** Stands for a store that does not say what it holds. */
	private static final Store NO_STORE = new Store(0, 0, 1);

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
		return (admin == null) ? none() : answered(admin.show(), WebEndpointResponse.STATUS_OK, this::failedToShow);
	}

	/** With what this node has: a change may be what keeps others from answering. */
	private WebEndpointResponse<Object> failedToShow(OperationFailedException ex) {
		Layout own = (this.node != null) ? this.node.layout() : null;
		return (own == null) ? failed(ex) : problem(UNAVAILABLE,
				"Too few nodes answer to read what was decided last. 'own' is what this node has: " + ex.getMessage(),
				Map.of("outcome", "not-applied", "own", describe(new LayoutDecision(own.number(), own), NO_STORE)));
	}

	/**
	 * Changes the nodes by one step.
	 * @param stage the edit to stage, as JSON ({@link NestedJson}): {@code add},
	 * {@code remove}, {@code replace}, {@code factor}
	 * @param apply the number under which the topology to change to is staged
	 * @param abort the number of the change to give up, or of what is staged; true for
	 * the last one, whatever that is
	 * @param pause true to copy nothing for a change
	 * @param resume true to go on with a change that is paused
	 */
	@WriteOperation
	Mono<WebEndpointResponse<Object>> change(@Nullable String stage, @Nullable Long apply, @Nullable String abort,
			@Nullable Boolean pause, @Nullable Boolean resume) {
		LayoutAdmin admin = this.admin;
		if (admin == null) {
			return none();
		}
		List<Supplier<Mono<LayoutDecision>>> steps = new ArrayList<>();
		if (stage != null) {
			steps.add(() -> admin.stage(editOf(stage)));
		}
		if (apply != null) {
			steps.add(() -> admin.apply(apply));
		}
		if (abort != null && !abort.equals("false")) {
			steps.add(() -> admin.abort(abort.equals("true") ? null : numberToAbort(abort)));
		}
		if (Boolean.TRUE.equals(pause)) {
			steps.add(() -> admin.pause(true));
		}
		if (Boolean.TRUE.equals(resume)) {
			steps.add(() -> admin.pause(false));
		}
		if (steps.size() != 1) {
			return Mono.just(problem(WebEndpointResponse.STATUS_BAD_REQUEST,
					"Give one of 'stage', 'apply', 'abort', 'pause' and 'resume': {\"stage\":{\"add\":[{\"address\":\"http://host:port\"}]}}, {\"apply\":<number of what is staged>}, {\"abort\":<number>} or {\"abort\":true}, {\"pause\":true} or {\"resume\":true}."));
		}
		try {
			return answered(steps.getFirst().get(), ACCEPTED, LayoutEndpoint::failed);
		}
		catch (IllegalArgumentException ex) {
			return Mono.just(problem(WebEndpointResponse.STATUS_BAD_REQUEST, String.valueOf(ex.getMessage())));
		}
	}

	private static long numberToAbort(String text) {
		try {
			return Long.parseLong(text);
		}
		catch (NumberFormatException ex) {
			throw new IllegalArgumentException("'abort' is a number or true, not " + text + ".", ex);
		}
	}

	private Mono<WebEndpointResponse<Object>> answered(Mono<LayoutDecision> decision, int status,
			Function<OperationFailedException, WebEndpointResponse<Object>> whenFailed) {
		LayoutNode node = this.node;
		String outside = (node != null && node.layout() == null) ? node.outside() : null;
		if (outside != null) {
			return Mono.just(problem(CONFLICT, outside));
		}
		// To say what moves takes up to seconds, for many nodes with weights.
		return decision.zipWhen(it -> (it.staged() != null) ? storeOf(node) : Mono.just(NO_STORE))
			.publishOn(Schedulers.boundedElastic())
			.map(it -> new WebEndpointResponse<Object>(describe(it.getT1(), it.getT2()), status))
			.onErrorResume(LayoutRefusedException.class,
					ex -> Mono
						.just(problem(ex.isConflict() ? CONFLICT : UNPROCESSABLE, String.valueOf(ex.getMessage()))))
			.onErrorResume(OperationFailedException.class, ex -> Mono.just(whenFailed.apply(ex)));
	}

	private static WebEndpointResponse<Object> failed(OperationFailedException ex) {
		return ex.mayHaveHappened() ? problem(TIMEOUT,
				"Too few nodes answered, so it is unknown whether this change was decided. Check the layout before you try again: "
						+ ex.getMessage(),
				Map.of("outcome", "unknown"))
				: problem(UNAVAILABLE,
						"Too few nodes answer to read or change the layout, try again: " + ex.getMessage(),
						Map.of("outcome", "not-applied"));
	}

	private static Mono<Store> storeOf(@Nullable LayoutNode node) {
		return (node != null) ? node.store().onErrorReturn(NO_STORE) : Mono.just(NO_STORE);
	}

	private static Mono<WebEndpointResponse<Object>> none() {
		return Mono.just(problem(CONFLICT,
				"This node has no replica address, so it can have no peers: start it with kvorum.cluster.self and with kvorum.cluster.nodes, a list of one."));
	}

	private static WebEndpointResponse<Object> problem(int status, String detail) {
		return problem(status, detail, Map.of());
	}

	private static WebEndpointResponse<Object> problem(int status, String detail, Map<String, Object> more) {
		return Problems.of(status, "layout", "Layout", detail, more);
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

	private Map<String, Object> describe(LayoutDecision decision, Store store) {
		Layout layout = decision.layout();
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("version", decision.number());
		body.put("layout", layout.number());
		body.put("state", LayoutNode.stateOf(layout, this.node));
		body.put("factor", layout.before().wantedFactor());
		body.put("members", members(layout.before()));
		if (layout.isMoving()) {
			body.put("next", topology(layout.after()));
			body.put("moving", moving(layout, decision.isPaused()));
		}
		Topology staged = decision.staged();
		if (staged != null) {
			Map<String, Object> next = topology(staged);
			next.putAll(moves(layout.topology(), staged, store));
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
		return topology.members().stream().map(NodeReport::describe).toList();
	}

	/** The progress of a change, of all nodes and by their address. */
	private Map<String, Object> moving(Layout layout, boolean isPaused) {
		Map<String, Object> described = new LinkedHashMap<>();
		if (isPaused) {
			described.put("paused", true);
		}
		Layout own = (this.node != null) ? this.node.layout() : null;
		if (this.node == null || own == null || own.number() != layout.number()) {
			described.put("why", "the asked node has not taken this layout yet");
			return described;
		}
		ChangeStatus status = this.node.change();
		if (status != null) {
			described.putAll(status.describe());
		}
		CopyProgress copying = this.node.copying();
		if (copying != null) {
			described.putAll(copying.describe());
			Map<String, Object> nodes = new LinkedHashMap<>();
			layout.topology().members().forEach(member -> nodes.put(member.address(), describe(copying.of(member))));
			described.put("nodes", nodes);
		}
		return described;
	}

	private static Map<String, Object> describe(OfNode node) {
		return Map.of("step", (node.step() != null) ? node.step().text() : "unknown", "bytes", node.bytes(),
				"movedBytes", node.copiedBytes());
	}

	/**
	 * What each node would gain and give up, by its address. Sizes are estimates by what
	 * the asked node holds.
	 */
	private Map<String, Object> moves(Topology before, Topology after, Store store) {
		TopologyChange change = TopologyChange.between(before, after);
		Share own = change.shares().get(store.node());
		double bytesPerPartition = (own != null && own.held() > 0) ? (double) store.liveBytes() / own.held() : 0;
		Map<String, Object> nodes = new LinkedHashMap<>();
		long bytes = 0;
		long most = 0;
		for (Topology topology : List.of(before, after)) {
			for (Member member : topology.members()) {
				Share share = change.shareOf(member.id());
				long gained = Math.round(share.gained() * bytesPerPartition);
				Map<String, Object> move = new LinkedHashMap<>();
				move.put("gainsPartitions", share.gained());
				move.put("givesUpPartitions", share.lost());
				if (bytesPerPartition > 0) {
					move.put("bytes", gained);
				}
				if (nodes.put(member.address(), move) == null) {
					bytes += gained;
					most = Math.max(most, gained);
				}
			}
		}
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("moves", nodes);
		if (bytesPerPartition > 0) {
			described.put("bytes", bytes);
			described.put("secondsAtMaxRate", Math.ceilDiv(most, store.maxCopyRate()));
		}
		return described;
	}

}
