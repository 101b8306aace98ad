package io.kvorum.layout;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;

import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.cluster.TopologyEdit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Changes the nodes of a cluster, for operators: a topology is staged, looked at, and
 * applied. Each step is a decision of the {@link LayoutRegister}. So of two operators at
 * once one wins, and the other is told.
 */
public final class LayoutAdmin {

	/** Nodes that are asked at a time. */
	private static final int CONCURRENCY = 16;

	private final LayoutRegister register;

	private final LayoutPeers peers;

	public LayoutAdmin(LayoutRegister register, LayoutPeers peers) {
		this.register = register;
		this.peers = peers;
	}

	/** The last decision. */
	public Mono<LayoutDecision> show() {
		return this.register.read();
	}

	/**
	 * Stages a topology, instead of any other that is staged.
	 * @return the decision, or {@link LayoutRefusedException}
	 */
	public Mono<LayoutDecision> stage(TopologyEdit edit) {
		return this.register.decide(last -> {
			refuseWhileMoving(last);
			return staging(edit, last);
		});
	}

	private static void refuseWhileMoving(LayoutDecision last) {
		if (last.layout().isMoving()) {
			throw LayoutRefusedException
				.conflict("The change to layout %d is under way: wait until it is done, or abort it."
					.formatted(last.layout().number()));
		}
	}

	/**
	 * Begins to change to the staged topology.
	 * @param number that of the decision that has staged it
	 * @return the decision, or {@link LayoutRefusedException}
	 */
	public Mono<LayoutDecision> apply(long number) {
		return this.register.read().flatMap(last -> {
			Topology staged = staged(last, number);
			return Flux.merge(refuseUnlessReady(last.layout(), staged), refuseUnlessReachable(last.layout(), staged))
				.then(this.register.decide(now -> {
					staged(now, number);
					return now.applying();
				}));
		}).doOnNext(this.peers::decided);
	}

	/**
	 * Adds nodes that ask for it, as far as they are none yet, answer and ask still.
	 * Those that do not fit to the others, by their zones, hold up no others.
	 * @param addresses of nodes that have asked
	 * @return the decision, nothing if there are no such nodes, or
	 * {@link LayoutRefusedException}
	 */
	public Mono<LayoutDecision> join(List<String> addresses) {
		return Flux.fromIterable(addresses)
			.flatMap(address -> this.peers.ask(address)
				.filter(answer -> answer.startsWith(LayoutPeers.ASKING))
				.map(answer -> ClusterNode.parse(answer.substring(LayoutPeers.ASKING.length())))
				.filter(node -> node.address().toString().equals(address))
				.onErrorComplete(), CONCURRENCY)
			.collectList()
			.zipWith(this.register.read())
			.flatMap(both -> join(both.getT1(), both.getT2()));
	}

	private Mono<LayoutDecision> join(List<ClusterNode> asking, LayoutDecision last) {
		Topology before = last.layout().topology();
		List<ClusterNode> added = asking.stream().filter(node -> !before.has(node.address().toString())).toList();
		if (added.isEmpty()) {
			return Mono.empty();
		}
		boolean hasZones = !before.members().getFirst().zone().isEmpty();
		List<ClusterNode> fitting = added.stream()
			.filter(node -> node.zone().isEmpty() != hasZones)
			.limit(Math.max(1, Topology.MAX_MEMBERS - before.size()))
			.toList();
		List<TopologyEdit.Node> nodes = (fitting.isEmpty() ? added : fitting).stream()
			.map(ClusterNode::toEdit)
			.toList();
		LayoutDecision staged = adding(nodes, last);
		return refuseUnlessReachable(last.layout(), Objects.requireNonNull(staged.staged()))
			.then(this.register.decide(now -> adding(nodes, now).applying()))
			.doOnNext(this.peers::decided);
	}

	private static LayoutDecision adding(List<TopologyEdit.Node> added, LayoutDecision last) {
		refuseWhileMoving(last);
		if (last.staged() != null) {
			throw LayoutRefusedException
				.impossible("A change is staged already, as %d: apply it or abort it first.".formatted(last.number()));
		}
		return staging(new TopologyEdit(added, List.of(), null), last);
	}

	private static LayoutDecision staging(TopologyEdit edit, LayoutDecision last) {
		try {
			LayoutDecision staged = last.staging(edit.applyTo(last.layout().topology()));
			// What cannot be applied is refused before an operator has looked at it.
			staged.applying();
			return staged;
		}
		catch (IllegalArgumentException ex) {
			throw LayoutRefusedException.impossible(String.valueOf(ex.getMessage()));
		}
	}

	private static Topology staged(LayoutDecision last, long number) {
		refuseWhileMoving(last);
		Topology staged = last.staged();
		if (staged == null) {
			throw LayoutRefusedException.conflict("Nothing is staged.");
		}
		if (last.number() != number) {
			throw LayoutRefusedException
				.conflict("Another change was staged meanwhile, as %d. Look at it before you apply it."
					.formatted(last.number()));
		}
		return staged;
	}

	/** Refuses nodes to be added that do not wait for it with an empty store. */
	private Mono<Void> refuseUnlessReady(Layout layout, Topology staged) {
		return Flux.fromIterable(staged.members())
			.filter(member -> !layout.topology().has(member))
			.flatMap(added -> this.peers.ask(added.address())
				.onErrorMap(ex -> LayoutRefusedException
					.impossible("%s cannot be added: it does not answer on its replica address. %s"
						.formatted(added.address(), ex.getMessage())))
				.doOnNext(answer -> {
					if (answer.equals(LayoutPeers.NOT_EMPTY)) {
						throw LayoutRefusedException
							.impossible("%s cannot be added: its store is not empty. Start it with an empty directory."
								.formatted(added.address()));
					}
					if (!answer.equals(LayoutPeers.WAITING) && !answer.startsWith(LayoutPeers.ASKING)) {
						throw LayoutRefusedException.impossible(
								"%s cannot be added: it belongs to a cluster already, or did. Start it with an empty directory, and with the addresses of other nodes only in kvorum.cluster.nodes."
									.formatted(added.address()));
					}
				}))
			.then();
	}

	/**
	 * Refuses a change that would wait for nodes for ever: those that stay have to be
	 * there, and of those before the change all but a minority of each key's replicas.
	 */
	private Mono<Void> refuseUnlessReachable(Layout layout, Topology staged) {
		return Flux.fromIterable(layout.topology().members())
			.flatMap(member -> this.peers.ask(member.address())
				.hasElement()
				.onErrorReturn(false)
				.filter(isThere -> !isThere)
				.map(_ -> member), CONCURRENCY)
			.collectSortedList(Comparator.comparingInt(Member::index))
			.doOnNext(away -> {
				List<String> staying = away.stream().filter(staged::has).map(Member::address).toList();
				if (!staying.isEmpty()) {
					throw LayoutRefusedException.impossible(
							"%s do not answer and are to stay: start them first, or stage to remove or replace them."
								.formatted(staying));
				}
				if (away.size() > layout.topology().tolerance()) {
					throw LayoutRefusedException.impossible(
							"%s do not answer, and what only they hold would be lost: start all but %d of them first."
								.formatted(away.stream().map(Member::address).toList(), layout.topology().tolerance()));
				}
			})
			.then();
	}

	/**
	 * Gives up the change that is under way, or what is staged. All nodes have the
	 * topology before the change again.
	 * @param number that of the decision that is given up; null for whichever is the last
	 * @return the decision, or {@link LayoutRefusedException} if it is too late
	 */
	public Mono<LayoutDecision> abort(@Nullable Long number) {
		return this.register.decide(last -> {
			if (!last.layout().isMoving() && last.staged() == null) {
				throw LayoutRefusedException.conflict(
						"There is nothing to abort: no change is under way, and nothing is staged. To take back a change that is done, stage another one.");
			}
			if (number != null && last.number() != number) {
				throw LayoutRefusedException
					.conflict("Another decision was made meanwhile, as %d. Look at it before you abort it."
						.formatted(last.number()));
			}
			return last.aborting();
		}).doOnNext(this.peers::decided);
	}

	/**
	 * Copies nothing for the change that is under way, or goes on. Nodes hear of it
	 * within seconds. Operations are not affected.
	 * @return the decision, or {@link LayoutRefusedException} if no change is under way
	 */
	public Mono<LayoutDecision> pause(boolean isPaused) {
		return this.register.decide(last -> {
			if (!last.layout().isMoving()) {
				throw LayoutRefusedException.conflict("No change is under way.");
			}
			return (last.isPaused() == isPaused) ? last : last.pausing(isPaused);
		}).doOnNext(this.peers::decided);
	}

	/** Decides that a change is over, if it still is the one under way. */
	public Mono<LayoutDecision> finish(Layout layout) {
		return this.register.decide(last -> (last.layout().number() == layout.number() && last.layout().isMoving())
				? last.finishing() : last)
			.doOnNext(this.peers::decided);
	}

}
