package io.kvorum.client;

import java.net.URI;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Chooses the node to ask: of two at random the one with fewer requests under way, which
 * keeps off slow nodes without measuring them (Mitzenmacher, "The Power of Two Choices").
 * Nodes that did not answer lately come last.
 */
final class Nodes {

	private final List<Node> nodes;

	private final LongSupplier nanoTime;

	private final IntUnaryOperator random;

	/**
	 * The nodes of a cluster.
	 * @param random a number from 0 up to and without its argument
	 */
	Nodes(List<URI> urls, LongSupplier nanoTime, IntUnaryOperator random) {
		this.nodes = urls.stream().map(url -> new Node(url, nanoTime.getAsLong())).toList();
		this.nanoTime = nanoTime;
		this.random = random;
	}

	int size() {
		return this.nodes.size();
	}

	/** Whether the keys are at other nodes now, or on their way there. */
	boolean areKeysMoved() {
		return this.nodes.stream().anyMatch(Node::isRetired);
	}

	/**
	 * The node for the next request.
	 * @param tried the nodes that have failed the operation already
	 */
	Node choose(Collection<Node> tried) {
		long now = this.nanoTime.getAsLong();
		Predicate<Node> isAwake = node -> node.restNanos(now) <= 0;
		Predicate<Node> isUntried = node -> !tried.contains(node);
		return fewestInFlight(only(isAwake.and(isUntried))).or(() -> soonestAwake(only(isUntried), now))
			.or(() -> fewestInFlight(only(isAwake)))
			.or(() -> soonestAwake(this.nodes, now))
			.orElseThrow();
	}

	private static Optional<Node> soonestAwake(List<Node> candidates, long now) {
		return candidates.stream().min(Comparator.comparingLong(node -> node.restNanos(now)));
	}

	private List<Node> only(Predicate<Node> condition) {
		for (Node node : this.nodes) {
			if (!condition.test(node)) {
				return this.nodes.stream().filter(condition).toList();
			}
		}
		return this.nodes;
	}

	private Optional<Node> fewestInFlight(List<Node> candidates) {
		int size = candidates.size();
		if (size < 2) {
			return candidates.stream().findFirst();
		}
		int first = this.random.applyAsInt(size);
		int other = this.random.applyAsInt(size - 1);
		Node one = candidates.get(first);
		Node two = candidates.get((other < first) ? other : other + 1);
		return Optional.of((two.inFlight() < one.inFlight()) ? two : one);
	}

}
