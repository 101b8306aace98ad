package io.kvorum.app;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.layout.LayoutNode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The newest layout that a node has heard of. Thread-safe. */
final class KnownLayout {

	private static final String ASKING = LayoutNode.WAITING + " ";

	private static final Logger logger = LoggerFactory.getLogger(KnownLayout.class);

	private final AtomicReference<@Nullable Layout> newest = new AtomicReference<>();

	/** The answer of this node while it belongs to no cluster; null once it does. */
	private volatile @Nullable String answerWithout = LayoutNode.NOT_EMPTY;

	/** Other clusters whose layouts were heard of. */
	private final Set<Long> strangers = ConcurrentHashMap.newKeySet();

	/** Nodes that have asked to be added since these were last taken, by address. */
	private final Map<String, ClusterNode> joining = new ConcurrentHashMap<>();

	/** The number of the layout that nothing is copied for; 0 for none. */
	private volatile long paused;

	/**
	 * This node belongs to no cluster.
	 * @param asking this node, if it asks to be added to one
	 */
	void waits(boolean isEmpty, @Nullable ClusterNode asking) {
		String waiting = (asking != null) ? ASKING + asking.text() : LayoutNode.WAITING;
		this.answerWithout = isEmpty ? waiting : LayoutNode.NOT_EMPTY;
	}

	/** This node belongs to a cluster. */
	void belongs() {
		this.answerWithout = null;
	}

	/** Whether any node has asked to be added. */
	boolean hasJoining() {
		return !this.joining.isEmpty();
	}

	/** Takes the nodes that have asked to be added. They ask again and again. */
	List<ClusterNode> takeJoining() {
		List<ClusterNode> taken = List.copyOf(this.joining.values());
		this.joining.clear();
		return taken;
	}

	/** Remembers whether anything is copied for a layout. */
	void paused(long number, boolean isPaused) {
		this.paused = isPaused ? number : 0;
	}

	/** Why nothing is copied for a layout; null if it is. */
	@Nullable String pausedBecause(long number) {
		return (number > 0 && number == this.paused) ? "an operator has paused it" : null;
	}

	/** The newest layout; null if this node knows none. */
	@Nullable Layout newest() {
		return this.newest.get();
	}

	/** Remembers a layout unless a newer one is known, or one of another cluster. */
	void learn(Layout layout) {
		this.newest.accumulateAndGet(layout,
				(known, heard) -> (known == null || (heard.number() > known.number() && heard.isOfSameCluster(known)))
						? heard : known);
	}

	/**
	 * Remembers the layout of another node, if it has one, or that it asks to be added.
	 * The layout of a configuration is not learnt: each node has its own.
	 */
	void learn(String text) {
		if (text.startsWith(ASKING) && this.joining.size() < Topology.MAX_MEMBERS) {
			ClusterNode asking = ClusterNode.parse(text.substring(ASKING.length()));
			this.joining.put(asking.address().toString(), asking);
		}
		if (!text.startsWith(Layout.HEAD)) {
			return;
		}
		Layout known = this.newest.get();
		// Other nodes say the same once a second, and to place weighted nodes takes time.
		if (Layout.numberIn(text) > ((known != null) ? known.number() : 0)) {
			Layout heard = Layout.parse(text);
			if (known != null && !heard.isOfSameCluster(known) && this.strangers.add(heard.founding())) {
				logger.warn(
						"A node told of a layout of another cluster, which is ignored: it has an address of this cluster in its configuration or did. {}",
						heard.topology());
			}
			learn(heard);
		}
	}

	/** The newest layout as text, or the answer of a node that belongs to no cluster. */
	String text() {
		String without = this.answerWithout;
		Layout known = this.newest.get();
		return (without != null || known == null) ? String.valueOf(without) : known.toText();
	}

	/** Learns what another node knows, and tells what this one knows. */
	String exchange(String theirs) {
		try {
			learn(theirs);
		}
		catch (IllegalArgumentException _) {
			// A node of a later release may know another form.
		}
		return text();
	}

}
