package io.kvorum.convergence.quarantine;

import java.util.Collection;

import io.kvorum.convergence.quarantine.Membership.State;

/**
 * Decides what a node is, from what it remembers and from the introductions of the other
 * nodes.
 * <p>
 * A cluster is new when the disks of all its nodes are empty. Each node tells all others
 * so before the first one becomes a member. A node with an empty disk that finds a member
 * therefore knows that it has lost its disk, or is a newcomer. A cluster all of whose
 * nodes were restored from backups begins in the same way.
 *
 * @param own what the node is so far
 * @param identity the identity of its disk
 * @param aliveMillis the end of its last life; for a restored node, when its backup was
 * made
 * @param others the number of other nodes
 * @param mostAwayMillis the longest absence after which it may vote without asking
 * @param isAdded whether a change of the topology is adding it. Nothing relies on what it
 * holds until it is synced, so it need not be rebuilt before it votes
 */
record AdmissionRule(Membership own, long identity, long aliveMillis, int others, long mostAwayMillis,
		boolean isAdded) {

	/** The rule of a node that no change of the topology is adding. */
	AdmissionRule(Membership own, long identity, long aliveMillis, int others, long mostAwayMillis) {
		this(own, identity, aliveMillis, others, mostAwayMillis, false);
	}

	/**
	 * The margin by which others may have seen a node alive after the latest instant on
	 * its disk. It leaves room for slow disks and for clocks that are corrected. An older
	 * copy of a disk is not noticed within this margin.
	 */
	private static final long NOTED_WITHIN_MILLIS = 60_000;

	/** Decides the state from the last introductions of the nodes that have sent one. */
	State decide(Collection<Introduction> received) {
		boolean all = received.size() == this.others;
		return switch (this.own.state()) {
			case NEW -> ofNew(received, all);
			case READY -> ofReady(received, all);
			case RESTORED -> ofRestored(received, all);
			case REUNITED -> (all && received.stream().allMatch(AdmissionRule::knowsThatAllWereRestored)) ? State.MEMBER
					: State.REUNITED;
			case MEMBER, UNSYNCED ->
				received.stream().anyMatch(this::remembersALaterDisk) ? State.STALE_DISK : this.own.state();
			case NEWCOMER -> this.isAdded ? ofNew(received, all) : State.NEWCOMER;
			case LOST_DISK, AWAY_TOO_LONG, STALE_DISK -> this.own.state();
		};
	}

	private State ofNew(Collection<Introduction> received, boolean all) {
		if (received.stream().anyMatch(this::remembersAnotherDisk)) {
			return State.LOST_DISK;
		}
		if (!all) {
			return this.own.state();
		}
		boolean isNewCluster = received.stream()
			.allMatch(other -> other.membership().state() == State.NEW || other.membership().state() == State.READY);
		return (isNewCluster || this.isAdded) ? State.READY : State.NEWCOMER;
	}

	/**
	 * A node that is about to begin a cluster may hear of another one, and take its
	 * layout: it has lost the disk that the nodes of that one remember.
	 */
	private State ofReady(Collection<Introduction> received, boolean all) {
		if (received.stream().anyMatch(this::remembersAnotherDisk)) {
			return State.LOST_DISK;
		}
		return (all && received.stream().noneMatch(other -> other.membership().state() == State.NEW)) ? State.MEMBER
				: State.READY;
	}

	private boolean remembersAnotherDisk(Introduction other) {
		return other.remembered() != 0 && other.remembered() != this.identity;
	}

	/**
	 * No node of a restored cluster is a member before all know that all were restored. A
	 * restored node that finds a member was restored alone: its disk is stale.
	 */
	private State ofRestored(Collection<Introduction> received, boolean all) {
		if (received.stream().anyMatch(other -> other.membership().isMember())) {
			return State.STALE_DISK;
		}
		if (!all || !received.stream().allMatch(AdmissionRule::wasRestoredToo)) {
			return State.RESTORED;
		}
		return isTooOld(received) && received.stream().allMatch(other -> isFresh(other, received)) ? State.STALE_DISK
				: State.REUNITED;
	}

	/**
	 * Whether a restored node need not wait for another one. That includes another node
	 * without a backup, or with one that was too old: it gets what the others have.
	 */
	static boolean wasRestoredToo(Introduction other) {
		return switch (other.membership().state()) {
			case RESTORED, REUNITED, MEMBER, NEWCOMER -> true;
			// A node that was no member since its restore knows that others were
			// restored.
			case STALE_DISK, UNSYNCED -> other.membership().admittedMillis() == 0;
			case NEW, READY, LOST_DISK, AWAY_TOO_LONG -> false;
		};
	}

	/**
	 * Whether another node knows that all were restored. If it came into quarantine after
	 * all had said so, it knows too.
	 */
	private static boolean knowsThatAllWereRestored(Introduction other) {
		return switch (other.membership().state()) {
			case REUNITED, MEMBER, NEWCOMER, LOST_DISK, AWAY_TOO_LONG, STALE_DISK, UNSYNCED -> true;
			case NEW, READY, RESTORED -> false;
		};
	}

	/**
	 * Whether the newest backup of another node is newer than that of this node by more
	 * than {@code mostAwayMillis}. The other node may then lack what this one still has,
	 * with the tombstone collected. This node is rebuilt if all others have backups that
	 * are not that old. If another backup is missing or too old as well, it is not: what
	 * two of three nodes acknowledged could then be lost.
	 * @param received the introductions of restored nodes, whose last lives ended when
	 * their backups were made
	 */
	boolean isTooOld(Collection<Introduction> received) {
		return newestMillis(received) - this.aliveMillis > this.mostAwayMillis;
	}

	private boolean isFresh(Introduction other, Collection<Introduction> received) {
		return isRestored(other) && newestMillis(received) - other.aliveMillis() <= this.mostAwayMillis;
	}

	private static long newestMillis(Collection<Introduction> received) {
		return received.stream().filter(AdmissionRule::isRestored).mapToLong(Introduction::aliveMillis).max().orElse(0);
	}

	private static boolean isRestored(Introduction other) {
		State state = other.membership().state();
		return state == State.RESTORED || state == State.REUNITED;
	}

	/** Whether another node remembers a later disk of this node than the present one. */
	boolean remembersALaterDisk(Introduction other) {
		return isOrWasMember() && other.remembered() != this.identity
				&& other.rememberedMillis() > this.own.admittedMillis();
	}

	/**
	 * Whether another node saw this one alive after every instant that its disk knows of.
	 * If it saw that in an earlier life, the disk is an older copy of the one that this
	 * node had then.
	 * @param latestMillis the latest instant on disk, see {@link Alive}
	 */
	boolean wasSeenAfter(long latestMillis, Introduction other) {
		return isOrWasMember() && latestMillis != 0 && other.lastSeenMillis() > latestMillis + NOTED_WITHIN_MILLIS;
	}

	/**
	 * Whether another node remembers the present disk from an earlier life of this node
	 * that went on after every instant that the disk knows of. The disk is then an older
	 * copy, also if all others have restarted since.
	 * @param latestMillis the latest instant on disk, see {@link Alive}
	 * @param startedMillis when this life began
	 */
	boolean remembersLaterLife(long latestMillis, long startedMillis, Introduction other) {
		// It may have been admitted at an instant ahead of its clock.
		long known = Math.max(latestMillis, this.own.admittedMillis());
		return this.own.isMember() && latestMillis != 0 && other.remembered() == this.identity
				&& other.rememberedMillis() > known + NOTED_WITHIN_MILLIS && other.rememberedMillis() < startedMillis;
	}

	/** Whether this node is a member, or was one until it became unsynced. */
	private boolean isOrWasMember() {
		return this.own.isMember() || (this.own.state() == State.UNSYNCED && this.own.admittedMillis() != 0);
	}

	/** Whether the last life ended so long ago that others have to be asked. */
	boolean mayHaveBeenAwayTooLong(long nowMillis) {
		return isOrWasMember() && this.aliveMillis != 0 && nowMillis - this.aliveMillis > this.mostAwayMillis;
	}

	/**
	 * Decides what a node is that may have been away for too long. If a majority, with
	 * itself, was away as well, no node has collected tombstones meanwhile: one collects
	 * those only that came before a repair with each other node. So it does not wait for
	 * the rest, which may be gone for good.
	 * @param received the first introductions since this node started
	 * @return {@code NEW} if that cannot be decided yet
	 */
	State decideAbsence(Collection<Introduction> received) {
		if (received.stream().anyMatch(other -> other.aliveMillis() - this.aliveMillis > this.mostAwayMillis)) {
			return this.own.isMember() ? State.AWAY_TOO_LONG : State.STALE_DISK;
		}
		boolean isOfMajority = 2 * (received.size() + 1) > this.others + 1;
		return isOfMajority ? this.own.state() : State.NEW;
	}

	/**
	 * Whether this node is to remember the disk of another one that is no member yet.
	 * That one may have acknowledged something, so the loss of its disk must not go
	 * unseen. False until this node knows that its cluster has members.
	 */
	boolean remembersNonMember(Introduction other) {
		boolean hasMembers = this.own.isMember() || this.own.state().isToBeRebuilt();
		return hasMembers && switch (other.membership().state()) {
			case NEW, READY, NEWCOMER, REUNITED -> true;
			case UNSYNCED -> other.membership().admittedMillis() == 0;
			case MEMBER, LOST_DISK, AWAY_TOO_LONG, STALE_DISK, RESTORED -> false;
		};
	}

}
