package io.kvorum.layout;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import org.jspecify.annotations.Nullable;

/**
 * The steps in which a node takes a layout that it has recorded, while it serves:
 * <ol>
 * <li>It dials nodes that are new. Operations go on as before.
 * <li>When the new nodes answer, operations that begin need replicas of the new layout.
 * So a change that adds a node which does not answer holds up nothing. One that is there
 * and does not vote for long has lost its disk. To be rebuilt it waits for this node to
 * have the layout, so this one goes on if the others are enough.
 * <li>When those that began before are over, it tells other nodes. They take it for a
 * node with the layout before until then.
 * <li>When all of them have heard it, the layout is in force: what moves may begin to.
 * </ol>
 * Does nothing by itself: it says what is next to those who do it, on one thread. Any
 * thread may ask how far it is.
 */
public final class LayoutAdoption {

	/** What operations may take longer than their time limit. */
	private static final Duration MARGIN = Duration.ofMillis(100);

	/** By which a node that has just started votes. */
	private static final Duration STARTING = Duration.ofSeconds(10);

	/** Whether a node has a vote. */
	public enum Standing {

		VOTING,

		/** A member that has just started, and is not known yet to have lost nothing. */
		STARTING,

		OUT;

		/**
		 * The standing of a node.
		 * @param isMember whether its disk is that of a member
		 * @param startedNanos the start of the node, by {@link TimeSource#nanos()}
		 */
		public static Standing of(boolean mayVote, boolean isMember, long startedNanos, long nowNanos) {
			if (mayVote) {
				return VOTING;
			}
			return (isMember && nowNanos - startedNanos < LayoutAdoption.STARTING.toNanos()) ? STARTING : OUT;
		}

	}

	/** How far it is. */
	public enum Phase {

		/** Operations are those of the layout before; new nodes are waited for. */
		PREPARING,

		/** Operations are those of this layout; earlier ones are waited for. */
		DRAINING,

		/** Other nodes are being told. */
		TELLING

	}

	private final @Nullable Topology before;

	private final Layout next;

	private final Duration longest;

	private final TimeSource time;

	private final long begunNanos;

	private volatile Phase phase = Phase.PREPARING;

	private volatile List<Member> unready = List.of();

	/** When operations that began with the layout before are over. */
	private long drainedNanos;

	/**
	 * Begins.
	 * @param before the topology of operations; null if none have begun
	 * @param next the layout that they are to have
	 * @param longest the longest time limit of an operation
	 */
	public LayoutAdoption(@Nullable Topology before, Layout next, Duration longest, TimeSource time) {
		this.before = before;
		this.next = next;
		this.longest = longest;
		this.time = time;
		this.begunNanos = time.nanos();
	}

	/**
	 * Selects the layout that this node takes next on its way to the newest one; null
	 * while it must finish the present one.
	 * <p>
	 * A node without a vote takes the newest layout at once, because no node waits for
	 * it. A member that has just started waits until it votes: in a change it would be
	 * taken for a node that may have lost its disk. Any other member enters a change from
	 * the layout before it. If it missed that layout, it takes that one first: while it
	 * waits for new nodes, it keeps working with the nodes that have that layout.
	 * @param self the address of the node
	 * @param now the present layout
	 * @param mayBeLeft whether that is in force, or {@link #isHeldUp}
	 */
	public static @Nullable Layout next(String self, Layout now, boolean mayBeLeft, Standing standing, Layout newest) {
		if (!newest.isMoving() || standing == Standing.OUT) {
			return newest;
		}
		if (standing == Standing.STARTING) {
			return null;
		}
		Topology before = newest.before();
		if (now.topology().fingerprint() == before.fingerprint()) {
			return mayBeLeft ? newest : null;
		}
		return before.has(self) ? newest.aborted(newest.number() - 1) : newest;
	}

	public Phase phase() {
		return this.phase;
	}

	/**
	 * Whether new nodes have been waited for in vain for some seconds. If all others are
	 * in the next change already, and done, they work with no node that has this layout.
	 */
	public boolean isHeldUp() {
		return this.phase == Phase.PREPARING && this.time.nanos() - this.begunNanos > STARTING.toNanos();
	}

	/** The new nodes that did not answer the last time. */
	public List<Member> unready() {
		return this.unready;
	}

	/**
	 * The new nodes, which have to answer first: those that the change adds. A node that
	 * has missed a change does not wait for those of that one, and none are waited for if
	 * it has served nothing before.
	 * @param self the node that takes the layout
	 */
	public List<Member> added(Member self) {
		Topology served = this.before;
		return (served == null) ? List.of()
				: this.next.topology()
					.members()
					.stream()
					.filter(member -> !this.next.before().has(member) && !served.has(member) && !member.equals(self))
					.toList();
	}

	/**
	 * The new nodes were asked.
	 * @param unready those that have not answered, and whether they are there and do not
	 * vote
	 * @param isThere whether another node is there
	 * @return whether operations are to be those of this layout; then {@link #served()}
	 * is due as soon as they are
	 */
	public boolean prepared(Map<Member, Boolean> unready, Predicate<Member> isThere) {
		boolean isEnough = unready.isEmpty() || isEnoughWithout(unready.values(), isThere);
		this.unready = isEnough ? List.of() : List.copyOf(unready.keySet());
		return this.phase == Phase.PREPARING && isEnough;
	}

	/** Operations that begin are those of this layout from now on. */
	public void served() {
		Duration draining = (this.before != null) ? this.longest.plus(MARGIN) : Duration.ZERO;
		this.drainedNanos = this.time.nanos() + draining.toNanos();
		this.phase = Phase.DRAINING;
	}

	/**
	 * Whether each key has a majority of replicas without new nodes that do not vote yet
	 * and others that are away.
	 */
	private boolean isEnoughWithout(Collection<Boolean> areThere, Predicate<Member> isThere) {
		long away = this.next.topology()
			.members()
			.stream()
			.filter(member -> this.next.before().has(member) && this.next.after().has(member))
			.filter(isThere.negate())
			.count();
		return areThere.size() + away <= this.next.after().tolerance() && !areThere.contains(false) && isHeldUp();
	}

	/** Returns, once, whether other nodes are to be told from now on. */
	public boolean drained() {
		if (this.phase != Phase.DRAINING || this.time.nanos() - this.drainedNanos < 0) {
			return false;
		}
		this.phase = Phase.TELLING;
		return true;
	}

}
