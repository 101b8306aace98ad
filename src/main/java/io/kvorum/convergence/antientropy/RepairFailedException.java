package io.kvorum.convergence.antientropy;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;

/** Failure of a repair. What is repaired stays so; the rest is tried again. */
final class RepairFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final Reason reason;

	private RepairFailedException(Reason reason, String message) {
		super(message, null, false, false);
		this.reason = reason;
	}

	/** The failure of a member to reply as asked. */
	static RepairFailedException of(Member member, Reply reply) {
		return (reply instanceof Failed failed)
				? new RepairFailedException(failed.reason(), member.address() + ": " + failed.detail())
				: new RepairFailedException(Reason.INTERNAL, member.address() + " replied what makes no sense here");
	}

	/** The failure of this node, which may not vote any more. */
	static RepairFailedException withheld(String why) {
		return new RepairFailedException(Reason.REBUILDING, why);
	}

	/** The failure to settle a key: too few of its replicas answer. */
	static RepairFailedException unsettled() {
		return new RepairFailedException(Reason.AWAY, "too few replicas answer to settle a key that was promised");
	}

	/** The failure to read an answer of a member. */
	static RepairFailedException of(Member member, RuntimeException unreadable) {
		return new RepairFailedException(Reason.INTERNAL,
				"%s answered what cannot be read: %s".formatted(member.address(), unreadable));
	}

	/** The failure to compare nodes that do not have the same topology yet. */
	static RepairFailedException ofOtherTopology() {
		return new RepairFailedException(Reason.UNAVAILABLE, "a member does not have the topology of this node yet");
	}

	boolean isUnreadable() {
		return this.reason == Reason.UNREADABLE;
	}

	boolean isLate() {
		return this.reason == Reason.TIMEOUT;
	}

	/**
	 * Whether a member is away, starts, stops or is in quarantine, which passes. So does
	 * a failed store: its process logs why and ends.
	 */
	boolean isPassing() {
		return switch (this.reason) {
			case UNAVAILABLE, AWAY, DISCONNECTED, REBUILDING -> true;
			default -> false;
		};
	}

}
