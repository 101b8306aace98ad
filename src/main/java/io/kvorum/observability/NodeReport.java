package io.kvorum.observability;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.Convergence;
import io.kvorum.convergence.ConvergenceStatus;
import io.kvorum.convergence.ConvergenceStatus.Peer;
import io.kvorum.layout.LayoutNode;
import io.kvorum.transport.OwnReport;
import io.kvorum.transport.PeerStatus;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.json.JsonMapper;

/** What a node tells of itself for a view of the cluster. */
final class NodeReport implements OwnReport {

	private final Member self;

	private final String version;

	private final Supplier<Layout> layout;

	private final @Nullable LayoutNode node;

	private final Supplier<List<PeerStatus>> peers;

	private final Convergence convergence;

	private final RequestRate requests;

	private final MeterRegistry meters;

	private final JsonMapper json;

	private final boolean isRetired;

	NodeReport(Member self, String version, Supplier<Layout> layout, @Nullable LayoutNode node,
			Supplier<List<PeerStatus>> peers, Convergence convergence, RequestRate requests, MeterRegistry meters,
			JsonMapper json, boolean isRetired) {
		this.self = self;
		this.version = version;
		this.layout = layout;
		this.node = node;
		this.peers = peers;
		this.convergence = convergence;
		this.requests = requests;
		this.meters = meters;
		this.json = json;
		this.isRetired = isRetired;
	}

	/** Describes a member: who it is and where, as all nodes know it. */
	static Map<String, Object> describe(Member member) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("node", Long.toHexString(member.id()));
		described.put("address", member.address());
		if (!member.zone().isEmpty()) {
			described.put("zone", member.zone());
		}
		described.put("weight", member.weight());
		return described;
	}

	@Override
	public Mono<String> toJson() {
		return describe().map(this.json::writeValueAsString);
	}

	/** Whether a member is this node. */
	boolean isOf(Member member) {
		return member.address().equals(this.self.address());
	}

	/** This node, as a member of a layout that has it or not. */
	Member member(Topology topology) {
		return memberIn(topology).orElse(this.self);
	}

	/**
	 * Describes this node. It asks the disk and the database, so it does not run on an
	 * event loop.
	 */
	Mono<Map<String, Object>> describe() {
		return Mono.fromSupplier(this::describeNow).subscribeOn(Schedulers.boundedElastic());
	}

	private Map<String, Object> describeNow() {
		Layout layout = this.layout.get();
		ConvergenceStatus status = this.convergence.status();
		Map<String, Object> described = describe(member(layout.topology()));
		described.put("state", state(layout, status));
		described.put("version", this.version);
		if (this.isRetired) {
			described.put("retired", true);
		}
		described.put("layout", layout.number());
		described.put("converged", status.converged());
		described.put("reaches",
				this.peers.get().stream().filter(peer -> peer.streams() > 0).map(PeerStatus::address).toList());
		describe("disk.free", "freeBytes", described);
		describe("kvorum.rocksdb.keys", "keys", described);
		described.put("requests", this.requests.describe());
		described.put("operations", outcomes());
		described.put("hints", status.peers().stream().map(Peer::hints).mapToLong(hints -> hints.hints()).sum());
		describe("kvorum.backup.last.success", "newestBackupAgeSeconds", described);
		return described;
	}

	/** The number of operations since the start, by their outcome. */
	private Map<String, Long> outcomes() {
		Map<String, Long> outcomes = new TreeMap<>();
		for (Counter counter : this.meters.find("kvorum.replication.operations").counters()) {
			outcomes.merge(String.valueOf(counter.getId().getTag("outcome")), (long) counter.count(), Long::sum);
		}
		return outcomes;
	}

	private Optional<Member> memberIn(Topology topology) {
		return topology.members().stream().filter(this::isOf).findFirst();
	}

	private String state(Layout layout, ConvergenceStatus status) {
		if (this.node != null && this.node.outside() != null) {
			return "outside";
		}
		if (!status.mayVote()) {
			return "quarantine";
		}
		boolean isBefore = memberIn(layout.before()).isPresent();
		boolean isAfter = memberIn(layout.after()).isPresent();
		return (isBefore && isAfter) ? "member" : isAfter ? "joining" : "leaving";
	}

	/**
	 * Adds the whole number that a gauge has, one of times in seconds; none if there is
	 * no such gauge, or it has no number.
	 */
	private void describe(String meter, String name, Map<String, Object> described) {
		Gauge gauge = this.meters.find(meter).gauge();
		if (gauge != null && Double.isFinite(gauge.value())) {
			described.put(name, Math.round(gauge.value()));
		}
	}

}
