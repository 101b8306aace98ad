package io.kvorum.convergence.change;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;

/**
 * Decides which step of a change a node may take. A step is safe because it is known of
 * all nodes but a minority of each key's replicas:
 * <ol>
 * <li>A closed node acknowledges nothing to nodes that have the topology before. When
 * enough are closed, those nodes reach no majority any more, and no write is left out of
 * the topology after the change.</li>
 * <li>From then on a node that compares itself with a majority of the replicas before the
 * change, closed ones that are members, gets every acknowledged write, and is synced. It
 * compares itself with all that are there, for entries with fewer copies.</li>
 * <li>When enough nodes are synced, a majority of the replicas after the change has every
 * acknowledged write, so that a node with the topology after the change may serve.</li>
 * </ol>
 *
 * @param topology the change
 * @param self this node
 * @param others what is known of each other node, by its identity
 */
record ChangeRule(Topology topology, Member self, Map<Long, Seen> others) {

	/** What is known of another node. */
	enum Seen {

		/** It has never answered, or has the topology before the change. */
		BEFORE,

		/** It is away, and was for so long that it need not be waited for. */
		AWAY,

		/** It is in this change, or has been through it. */
		OPEN, CLOSED, SYNCED, DONE;

		boolean isInChange() {
			return this.compareTo(OPEN) >= 0;
		}

	}

	private Seen of(Member member) {
		return this.others.getOrDefault(member.id(), Seen.BEFORE);
	}

	private Topology before() {
		return this.topology.parts().getFirst();
	}

	private Topology after() {
		return this.topology.parts().getLast();
	}

	/**
	 * The nodes that this one waits for until it refuses those with the topology before;
	 * none if it need not wait. Only a minority may be away: the others would serve
	 * nobody.
	 */
	List<Member> toClose() {
		// A node that is being added is closed from the beginning, and tells nothing.
		if (isDone() || before().members().stream().anyMatch(member -> of(member).compareTo(Seen.CLOSED) >= 0)) {
			return List.of();
		}
		List<Member> away = lacking(before(), seen -> seen != Seen.AWAY);
		return (away.size() <= before().tolerance()) ? lacking(before(), seen -> seen.isInChange() || seen == Seen.AWAY)
				: lacking(before(), Seen::isInChange);
	}

	/**
	 * The nodes that are not known to be closed, if there are too many of them for this
	 * node to become synced.
	 */
	List<Member> toBeFenced() {
		return isDone() ? List.of()
				: unlessTolerated(before(), lacking(before(), seen -> seen.compareTo(Seen.CLOSED) >= 0));
	}

	/**
	 * The nodes that are not known to be synced, if there are too many of them for this
	 * node to become done.
	 */
	List<Member> toBeDone() {
		return isDone() ? List.of()
				: unlessTolerated(after(), lacking(after(), seen -> seen.compareTo(Seen.SYNCED) >= 0));
	}

	/**
	 * The nodes that this one has to compare itself with and has not. A minority of each
	 * key's replicas may be left out, or any once enough others have all: but only nodes
	 * that could not be waited for.
	 * @param isHopeless whether a node is away, and was for so long that it need not be
	 * waited for, or cannot tell all that it has acknowledged
	 */
	List<Member> toBeSynced(Predicate<Member> isCompared, Predicate<Member> isHopeless) {
		List<Member> open = before().members()
			.stream()
			.filter(member -> member.id() != this.self.id() && !isCompared.test(member))
			.toList();
		List<Member> hopeful = open.stream().filter(isHopeless.negate()).toList();
		return (isDone() || open.size() - hopeful.size() <= before().tolerance()) ? hopeful : open;
	}

	/** Whether another node acknowledges nothing to nodes with the topology before. */
	boolean isClosed(Member member) {
		return of(member).compareTo(Seen.CLOSED) >= 0;
	}

	/**
	 * Whether another node knows that enough nodes are synced. Then this one waits for
	 * those only that can give it what it lacks.
	 */
	private boolean isDone() {
		return this.others.containsValue(Seen.DONE);
	}

	/** Whether this node is to hold anything after the change. */
	boolean isAfter() {
		return after().has(this.self);
	}

	private List<Member> lacking(Topology part, Predicate<Seen> is) {
		return part.members().stream().filter(member -> member.id() != this.self.id() && !is.test(of(member))).toList();
	}

	private static List<Member> unlessTolerated(Topology part, List<Member> members) {
		return (members.size() <= part.tolerance()) ? List.of() : members;
	}

}
