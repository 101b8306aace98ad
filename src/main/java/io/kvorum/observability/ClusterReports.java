package io.kvorum.observability;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.kvorum.api.ClusterView;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.change.CopyProgress;
import io.kvorum.layout.LayoutNode;
import io.kvorum.transport.PeerReports;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Gathers the {@link NodeReport}s of all nodes of the cluster. What a node of a later
 * release tells is passed on, even if this one does not know it.
 */
final class ClusterReports implements ClusterView {

	/** The time that a node has to answer. All are asked at once. */
	static final Duration TIMEOUT = Duration.ofSeconds(1);

	/** Time for which viewers share an answer. */
	private static final Duration FRESH = Duration.ofMillis(500);

	private final NodeReport own;

	private final Supplier<Layout> layout;

	private final @Nullable LayoutNode node;

	private final PeerReports peers;

	private final JsonMapper json;

	private final Mono<Map<String, Object>> view;

	ClusterReports(NodeReport own, Supplier<Layout> layout, @Nullable LayoutNode node, PeerReports peers,
			JsonMapper json) {
		this.own = own;
		this.layout = layout;
		this.node = node;
		this.peers = peers;
		this.json = json;
		this.view = Mono.defer(this::ask).cache(FRESH);
	}

	@Override
	public Mono<Map<String, Object>> gather() {
		return this.view;
	}

	private Mono<Map<String, Object>> ask() {
		Layout layout = this.layout.get();
		List<Member> members = new ArrayList<>(layout.topology().members());
		if (members.stream().noneMatch(this.own::isOf)) {
			// This node is in no cluster, or in none any more.
			members.add(this.own.member(layout.topology()));
		}
		return Flux.fromIterable(members)
			.flatMapSequential(this::ask, members.size())
			.collectList()
			.map(answers -> describe(layout, answers));
	}

	private Mono<Answer> ask(Member member) {
		Mono<Map<String, Object>> report = this.own.isOf(member) ? this.own.describe()
				: this.peers.of(member.address()).map(text -> this.json.readValue(text, new TypeReference<>() {
				}));
		return report.map(it -> new Answer(member, it, ""))
			.timeout(TIMEOUT)
			.onErrorResume(ex -> Mono.just(new Answer(member, null, why(ex))));
	}

	private static String why(Throwable ex) {
		return (ex instanceof TimeoutException) ? "no answer within %d ms".formatted(TIMEOUT.toMillis())
				: String.valueOf(ex.getMessage());
	}

	private Map<String, Object> describe(Layout layout, List<Answer> answers) {
		List<Map<String, Object>> nodes = new ArrayList<>();
		List<Map<String, Object>> unreachable = new ArrayList<>();
		for (Answer answer : answers) {
			Map<String, Object> report = answer.report();
			if (report == null) {
				report = NodeReport.describe(answer.member());
				report.put("state", "away");
				unreachable.add(Map.of("address", answer.member().address(), "why", answer.why()));
			}
			nodes.add(report);
		}
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("layout", describe(layout));
		described.put("nodes", nodes);
		described.put("unreachable", unreachable);
		return described;
	}

	private Map<String, Object> describe(Layout layout) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("version", layout.number());
		described.put("state", LayoutNode.stateOf(layout, this.node));
		described.put("factor", layout.topology().factor());
		CopyProgress copying = (this.node != null) ? this.node.copying() : null;
		if (copying != null) {
			described.put("moving", copying.describe());
		}
		return described;
	}

	/**
	 * What a node has answered.
	 *
	 * @param report null if it has not
	 * @param why why not
	 */
	private record Answer(Member member, @Nullable Map<String, Object> report, String why) {
	}

}
