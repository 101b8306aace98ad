package io.kvorum.storage;

import io.kvorum.kv.Version;

/**
 * The rules by which a replica stores, promises and accepts. It is the acceptor of Paxos
 * (Lamport, "Paxos Made Simple", 2001) for one key. Unconditional writes go on beside
 * ballots: ballots and versions are one order. Pure.
 * <p>
 * A key that no condition has touched has no promise. Then {@link #store} is "the newer
 * one wins".
 *
 * @param held the version of the stored entry; {@link Version#ABSENT} without one
 * @param promise the highest ballot that was promised; {@link Version#ABSENT} without
 * one. An entry that was stored under a ballot is a promise of it.
 */
public record Acceptor(Version held, Version promise) {

	/** The state of a key that was never written. */
	public static final Acceptor UNTOUCHED = new Acceptor(Version.ABSENT, Version.ABSENT);

	/**
	 * Judges a store whose acknowledgement counts.
	 * @param version the version of the entry
	 */
	public Verdict store(Version version) {
		if (version.equals(this.held)) {
			return Verdict.HELD;
		}
		// Refused even below a newer entry, which may be on this replica only.
		if (this.promise.isNewerThan(version)) {
			return Verdict.REFUSED;
		}
		return this.held.isNewerThan(version) ? Verdict.HELD : Verdict.TAKEN;
	}

	/**
	 * Judges an entry that was found on another replica. Its acknowledgement does not
	 * count.
	 * @param version the version of the entry
	 */
	public Verdict repair(Version version) {
		if (!version.isNewerThan(this.held)) {
			return Verdict.HELD;
		}
		return this.promise.isNewerThan(version) ? Verdict.REFUSED : Verdict.TAKEN;
	}

	/** Judges the ballot of a proposer. Once it is taken, no older entry is stored. */
	public Verdict prepare(Version ballot) {
		return (this.promise.isNewerThan(ballot) || this.held.isNewerThan(ballot)) ? Verdict.REFUSED : Verdict.TAKEN;
	}

	/**
	 * Judges an entry that was made under a ballot.
	 * @param version the ballot
	 * @param base the newest version that its proposer has seen
	 */
	public Verdict accept(Version version, Version base) {
		if (version.equals(this.held)) {
			return Verdict.HELD;
		}
		if (this.promise.isNewerThan(version)) {
			return Verdict.REFUSED;
		}
		if (this.held.isNewerThan(version)) {
			// No ballot above is promised, so an unconditional write stored what is held.
			// The entry counts as written right before that, and overwritten by it.
			return Verdict.HELD;
		}
		return this.held.isNewerThan(base) ? Verdict.REFUSED : Verdict.TAKEN;
	}

	/** What a replica does. */
	public enum Verdict {

		/** It stores the entry, or makes the promise. */
		TAKEN,

		/** It has the entry, or what came after it: the caller is acknowledged. */
		HELD,

		/** It changes nothing, and the caller is told why. */
		REFUSED

	}

}
