package io.kvorum.app;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.layout.LayoutPeers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a node has heard of the layout of its cluster. Thread-safe. */
final class KnownLayout {

	/** Nodes that are added in one change; more ask again. */
	static final int MAX_ASKING = 32;

	private static final Logger logger = LoggerFactory.getLogger(KnownLayout.class);

	/** The address of this node. */
	private final String self;

	private final AtomicReference<@Nullable Layout> newest = new AtomicReference<>();

	/** The name of the cluster, once this node knows it. */
	private volatile long name = Layout.UNKNOWN;

	/** The name of the cluster as others say it, where nothing was decided yet. */
	private volatile long heardName = Layout.UNKNOWN;

	/** The answer of this node while it belongs to no cluster; null once it does. */
	private volatile @Nullable String answerWithout = LayoutPeers.NOT_EMPTY;

	/** Whether a layout of another cluster was heard of. */
	private final AtomicBoolean hasHeardOfOthers = new AtomicBoolean();

	/** Addresses of nodes that have asked to be added since these were last taken. */
	private final Set<String> asking = ConcurrentHashMap.newKeySet();

	private final AtomicReference<Pause> pause = new AtomicReference<>(new Pause(0, 0));

	KnownLayout(String self) {
		this.self = self;
	}

	/** This node begins with a layout. */
	void begins(Layout first) {
		this.name = first.founding();
		this.newest.set(first);
	}

	/**
	 * This node belongs to no cluster.
	 * @param asking this node, if it asks to be added to one
	 */
	void waits(boolean isEmpty, @Nullable ClusterNode asking) {
		String waiting = (asking != null) ? LayoutPeers.ASKING + asking.text() : LayoutPeers.WAITING;
		this.answerWithout = isEmpty ? waiting : LayoutPeers.NOT_EMPTY;
	}

	/** This node belongs to a cluster. */
	void belongs() {
		this.answerWithout = null;
	}

	/**
	 * The cluster of this node has a name. What was heard of another one before this node
	 * knew that is forgotten.
	 * @param own the layout of this node
	 */
	void named(Layout own) {
		if (own.founding() != this.name) {
			this.name = own.founding();
			this.newest.updateAndGet(
					known -> (known == null || !known.isOfSameCluster(own)) ? own : known.named(own.founding()));
		}
	}

	/**
	 * Whether this node still has to hear the name of its cluster. A layout that was
	 * decided brings it.
	 */
	boolean lacksName() {
		return lacksName(this.newest.get());
	}

	private static boolean lacksName(@Nullable Layout known) {
		return known != null && known.number() == 0 && known.founding() == Layout.UNKNOWN;
	}

	/**
	 * The name of the cluster as others have said it, while this node does not know it
	 * and nothing was decided; {@link Layout#UNKNOWN} before.
	 */
	long heardName() {
		return this.heardName;
	}

	/** The newest layout; null if this node knows none. */
	@Nullable Layout newest() {
		return this.newest.get();
	}

	/** Remembers a layout unless a newer one is known, or it is of another cluster. */
	void learn(Layout layout) {
		this.newest.accumulateAndGet(layout, this::newer);
	}

	private @Nullable Layout newer(@Nullable Layout known, Layout heard) {
		if (this.answerWithout != null) {
			// Any cluster may add this node.
			boolean isNewer = known == null || heard.number() > known.number();
			return (isNewer && heard.topology().has(this.self)) ? heard : known;
		}
		if (known == null) {
			return heard;
		}
		return (heard.number() > known.number() && heard.isOfSameCluster(known)) ? heard.named(known.founding())
				: known;
	}

	/**
	 * Remembers a decision of this cluster: its layout, whatever name that gives the
	 * cluster, and whether anything is copied for it.
	 */
	void learn(LayoutDecision decision) {
		this.newest.accumulateAndGet(decision.layout(), (known, decided) -> {
			if (known == null) {
				return (decided.number() > 0) ? decided : null;
			}
			return (decided.number() > known.number()) ? decided.named(known.founding()) : known;
		});
		Pause heard = new Pause(decision.number(), decision.isPaused() ? decision.layout().number() : 0);
		this.pause.accumulateAndGet(heard, (known, next) -> (next.decision >= known.decision) ? next : known);
	}

	/** Why nothing is copied for a layout; null if it is. */
	@Nullable String pausedBecause(long number) {
		return (number > 0 && number == this.pause.get().layout) ? "an operator has paused it" : null;
	}

	/**
	 * Remembers the layout of another node, if it has one, or that it asks to be added.
	 * The layout of a configuration is not learnt: each node has its own.
	 */
	private void learn(String text) {
		if (text.startsWith(LayoutPeers.ASKING) && this.asking.size() < MAX_ASKING) {
			this.asking.add(ClusterNode.parse(text.substring(LayoutPeers.ASKING.length())).address().toString());
		}
		if (!text.startsWith(Layout.HEAD)) {
			return;
		}
		Layout known = this.newest.get();
		// Other nodes say the same once a second, and to place weighted nodes takes time.
		long number = Layout.numberIn(text);
		if (number == 0 && known != null && lacksName(known)) {
			Layout heard = Layout.parse(text);
			boolean isNamed = heard.founding() != Layout.UNKNOWN;
			if (isNamed && heard.topology().fingerprint() == known.topology().fingerprint()) {
				this.heardName = heard.founding();
			}
		}
		if (number > ((known != null) ? known.number() : 0)) {
			Layout heard = Layout.parse(text);
			if (this.answerWithout == null && known != null && !heard.isOfSameCluster(known)
					&& this.hasHeardOfOthers.compareAndSet(false, true)) {
				logger.warn(
						"Ignored layout {} of another cluster, {}: the configuration of one of its nodes contains, or once contained, the address of this node",
						heard.number(), heard.topology());
			}
			learn(heard);
		}
	}

	/** Whether any node has asked to be added. */
	boolean hasAsking() {
		return !this.asking.isEmpty();
	}

	/**
	 * Takes the addresses of nodes that have asked to be added. They ask again and again.
	 */
	List<String> takeAsking() {
		List<String> taken = List.copyOf(this.asking);
		this.asking.removeAll(taken);
		return taken;
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

	/**
	 * Whether anything is copied.
	 *
	 * @param decision the number of the decision that says so
	 * @param layout the number of the layout that nothing is copied for; 0 for none
	 */
	private record Pause(long decision, long layout) {
	}

}
