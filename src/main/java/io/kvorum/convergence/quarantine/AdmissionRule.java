package io.kvorum.convergence.quarantine;

import java.util.Collection;

import io.kvorum.convergence.quarantine.Membership.State;

/**
 * Decides what a node is, by what it knows of itself and what the others say.
 * <p>
 * A cluster is new when all of its nodes have empty disks: each says so to all others
 * before the first one becomes a member, so that one that finds a member while its own
 * disk is empty knows that it has lost something, or has come later. A cluster all of
 * whose nodes were restored from backups begins in the same way.
 *
 * @param own what it is so far
 * @param identity of its disk
 * @param aliveMillis the end of its last life; of one that was restored, when its backup
 * was made
 * @param others how many other nodes there are
 * @param mostAwayMillis a longer absence makes it doubtful
 */
record AdmissionRule(Membership own, long identity, long aliveMillis, int others, long mostAwayMillis) {

	/**
	 * That a node is alive is on its disk so soon after it has told it: with slow disks
	 * and clocks that are corrected.
	 */
	private static final long NOTED_WITHIN_MILLIS = 60_000;

	/** What it is, given what those who answered said. */
	State decide(Collection<Introduction> met) {
		boolean all = met.size() == this.others;
		return switch (this.own.state()) {
			case NEW -> ofNew(met, all);
			case READY -> (all && met.stream().noneMatch(other -> other.membership().state() == State.NEW))
					? State.MEMBER : State.READY;
			case RESTORED -> ofRestored(met, all);
			case REUNITED ->
				(all && met.stream().allMatch(AdmissionRule::isNoLongerAsked)) ? State.MEMBER : State.REUNITED;
			case MEMBER, UNSYNCED ->
				met.stream().anyMatch(this::remembersALaterDisk) ? State.STALE_DISK : this.own.state();
			case NEWCOMER, LOST_DISK, AWAY_TOO_LONG, STALE_DISK -> this.own.state();
		};
	}

	private State ofNew(Collection<Introduction> met, boolean all) {
		if (met.stream().anyMatch(other -> other.remembered() != 0 && other.remembered() != this.identity)) {
			return State.LOST_DISK;
		}
		if (!all) {
			return State.NEW;
		}
		boolean isNewCluster = met.stream()
			.allMatch(other -> other.membership().state() == State.NEW || other.membership().state() == State.READY);
		return isNewCluster ? State.READY : State.NEWCOMER;
	}

	/**
	 * Nobody of a cluster that was restored is a member before all know that it was: who
	 * meets a member was restored alone, and has an old disk among others.
	 */
	private State ofRestored(Collection<Introduction> met, boolean all) {
		if (met.stream().anyMatch(other -> other.membership().isMember())) {
			return State.STALE_DISK;
		}
		if (!all || !met.stream().allMatch(AdmissionRule::wasRestoredToo)) {
			return State.RESTORED;
		}
		return isTooOld(met) && met.stream().allMatch(other -> isFresh(other, met)) ? State.STALE_DISK : State.REUNITED;
	}

	/**
	 * Whether one that was restored may go on with this one. Also one for which there was
	 * no backup, or that was too old: it gets what the others have.
	 */
	static boolean wasRestoredToo(Introduction other) {
		return switch (other.membership().state()) {
			case RESTORED, REUNITED, MEMBER, NEWCOMER -> true;
			// One that never was a member since its restore knows that others were
			// restored.
			case STALE_DISK, UNSYNCED -> other.membership().admittedMillis() == 0;
			case NEW, READY, LOST_DISK, AWAY_TOO_LONG -> false;
		};
	}

	/**
	 * Whether this one does not ask any more if all were restored. One that has come into
	 * quarantine since all had said so did know.
	 */
	private static boolean isNoLongerAsked(Introduction other) {
		return switch (other.membership().state()) {
			case REUNITED, MEMBER, NEWCOMER, LOST_DISK, AWAY_TOO_LONG, STALE_DISK, UNSYNCED -> true;
			case NEW, READY, RESTORED -> false;
		};
	}

	/**
	 * Whether another one was restored from a backup that is so much newer than that of
	 * this one that what this one still has may have been deleted there, and the
	 * tombstone collected. Where all others are newer it is rebuilt from them. Where
	 * another one is missing or old too, it is not: what two of three had acknowledged
	 * could be lost.
	 * @param met what those said that were restored too: their last lives ended when
	 * their backups were made
	 */
	boolean isTooOld(Collection<Introduction> met) {
		return newestMillis(met) - this.aliveMillis > this.mostAwayMillis;
	}

	private boolean isFresh(Introduction other, Collection<Introduction> met) {
		return isRestored(other) && newestMillis(met) - other.aliveMillis() <= this.mostAwayMillis;
	}

	private static long newestMillis(Collection<Introduction> met) {
		return met.stream().filter(AdmissionRule::isRestored).mapToLong(Introduction::aliveMillis).max().orElse(0);
	}

	private static boolean isRestored(Introduction other) {
		State state = other.membership().state();
		return state == State.RESTORED || state == State.REUNITED;
	}

	/** Whether another one knows a later disk of this node than the one it has. */
	boolean remembersALaterDisk(Introduction other) {
		return isOrWasMember() && other.remembered() != this.identity
				&& other.rememberedMillis() > this.own.admittedMillis();
	}

	/**
	 * Whether another one saw it alive after all that its disk knows of. If that was in
	 * an earlier life, this disk is an older copy of the one that it had then.
	 * @param latestMillis the latest instant at which it was alive, as its disk has it:
	 * after the end of its last life where its clock was set back
	 */
	boolean wasSeenAfter(long latestMillis, Introduction told) {
		return isOrWasMember() && latestMillis != 0 && told.lastSeenMillis() > latestMillis + NOTED_WITHIN_MILLIS;
	}

	/** Whether it is a member, or was when its machine ended. */
	private boolean isOrWasMember() {
		return this.own.isMember() || (this.own.state() == State.UNSYNCED && this.own.admittedMillis() != 0);
	}

	/** Whether the last life ended so long ago that the others have to be asked. */
	boolean mayHaveBeenAwayTooLong(long nowMillis) {
		return isOrWasMember() && this.aliveMillis != 0 && nowMillis - this.aliveMillis > this.mostAwayMillis;
	}

	/**
	 * Of one that may have been away for too long: where the others were away too, nobody
	 * has collected anything meanwhile.
	 * @return what it is; {@code NEW} as long as that cannot be said
	 */
	State decideAbsence(Collection<Introduction> met) {
		if (met.stream().anyMatch(other -> other.aliveMillis() - this.aliveMillis > this.mostAwayMillis)) {
			return this.own.isMember() ? State.AWAY_TOO_LONG : State.STALE_DISK;
		}
		return (met.size() == this.others) ? this.own.state() : State.NEW;
	}

	/**
	 * Whether this one remembers the disk of another one that is no member yet, so that
	 * it cannot lose that unseen: it may have acknowledged something. Not before this one
	 * knows that its cluster has members.
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
