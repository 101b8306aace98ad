package io.kvorum.convergence.antientropy;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply;

/** A repair could not be finished: what was done stays done, the rest is tried again. */
final class RepairFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final Reason reason;

	private RepairFailedException(Reason reason, String message) {
		super(message, null, false, false);
		this.reason = reason;
	}

	/** Of a member that did not do its part. */
	static RepairFailedException of(Member member, Reply reply) {
		return (reply instanceof Failed failed)
				? new RepairFailedException(failed.reason(), member.address() + ": " + failed.detail())
				: new RepairFailedException(Reason.INTERNAL, member.address() + " replied what makes no sense here");
	}

	/** Of this node, which is not believed any more. */
	static RepairFailedException inDoubt(String doubt) {
		return new RepairFailedException(Reason.REBUILDING, doubt);
	}

	/** Of an answer that cannot be read. */
	static RepairFailedException of(Member member, RuntimeException unreadable) {
		return new RepairFailedException(Reason.INTERNAL,
				"%s answered what cannot be read: %s".formatted(member.address(), unreadable));
	}

	boolean isUnreadable() {
		return this.reason == Reason.UNREADABLE;
	}

	/** Whether it is the way of nodes that start, stop or are rebuilt. */
	boolean isPassing() {
		return switch (this.reason) {
			case UNAVAILABLE, AWAY, DISCONNECTED, REBUILDING -> true;
			default -> false;
		};
	}

}
