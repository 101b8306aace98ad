package io.kvorum.replication;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import io.kvorum.cluster.Member;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;

/**
 * An operation on a key did not succeed. Its caller wants to know whether to try again
 * and whether a write may have happened: see {@link #mayHaveHappened()} and
 * {@link #mayRetry()}.
 * <p>
 * Without a stack trace: under overload there are thousands.
 */
public final class OperationFailedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/** Of a replica that has not answered when the others had decided. */
	private static final String PENDING = "pending";

	private final Kind kind;

	private final int required;

	private final int acknowledged;

	private final boolean mayHaveHappened;

	private final boolean mayRetry;

	private final transient List<ReplicaFailure> replicas;

	private OperationFailedException(Kind kind, String message, Tally tally, boolean mayHaveHappened,
			List<ReplicaFailure> replicas) {
		super(message, null, false, false);
		this.kind = kind;
		this.required = tally.required();
		this.acknowledged = tally.succeeded();
		this.mayHaveHappened = mayHaveHappened;
		long lasting = replicas.stream().filter(replica -> !replica.mayRetry()).count();
		this.mayRetry = tally.replicas() - lasting >= tally.required();
		this.replicas = replicas;
	}

	/** Of a read, or of a write that had stored nothing anywhere. */
	static OperationFailedException ofReads(ReplicaSet set, Tally tally) {
		return of(set, tally, false);
	}

	/** Of a read that could not bring what it found to enough replicas. */
	static OperationFailedException ofWriteBack(ReplicaSet set, Tally tally) {
		OperationFailedException failed = of(set, tally, false);
		return new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, String.valueOf(failed.getMessage()), tally, false,
				failed.replicas);
	}

	/** Of a write: each replica that was asked may have stored it, unless it says not. */
	static OperationFailedException ofStores(ReplicaSet set, Tally tally) {
		return of(set, tally, true);
	}

	/** Of a write that was not begun, since too few replicas are there. */
	static OperationFailedException ofAbsentees(ReplicaSet set, int required) {
		Tally tally = Tally.awaiting(required, set.size());
		for (int position = set.present(); position < set.size(); position++) {
			tally = tally.add(position, Failed.notDone(Reason.AWAY, "the replica is known to be away"));
		}
		return of(set, tally, false);
	}

	/** Of a write that this node could not begin. */
	static OperationFailedException notBegun(int required, Member self, Failed why) {
		Kind kind = (why.reason() == Reason.NO_SPACE) ? Kind.NO_SPACE : Kind.NOT_ACCEPTED;
		return new OperationFailedException(kind, why.detail(), Tally.awaiting(required, required), false,
				List.of(new ReplicaFailure(self.address(), why.reason().text(), false, true)));
	}

	private static OperationFailedException of(ReplicaSet set, Tally tally, boolean stores) {
		List<ReplicaFailure> failures = new ArrayList<>();
		List<Failed> replies = new ArrayList<>();
		for (int position = 0; position < set.size(); position++) {
			String node = set.at(position).member().address();
			Reply reply = tally.reply(position);
			if (reply == null) {
				failures.add(new ReplicaFailure(node, PENDING, stores, true));
			}
			else if (reply instanceof Failed failed) {
				replies.add(failed);
				failures.add(new ReplicaFailure(node, failed.reason().text(), stores && failed.mayHaveHappened(),
						failed.mayRetry()));
			}
		}
		boolean mayHaveHappened = stores
				&& (tally.succeeded() > 0 || failures.stream().anyMatch(ReplicaFailure::mayHaveHappened));
		return new OperationFailedException(kindOf(tally, replies, mayHaveHappened), message(replies), tally,
				mayHaveHappened, failures);
	}

	private static Kind kindOf(Tally tally, List<Failed> replies, boolean mayHaveHappened) {
		if (replies.stream().allMatch(failed -> failed.reason() == Reason.NO_SPACE)) {
			return Kind.NO_SPACE;
		}
		boolean isNotBegun = tally.succeeded() == 0 && !mayHaveHappened;
		return (isNotBegun && replies.stream().allMatch(OperationFailedException::isNotAccepted)) ? Kind.NOT_ACCEPTED
				: Kind.NOT_ENOUGH_REPLICAS;
	}

	/** Whether a replica has refused to begin, and the same may go well right after. */
	private static boolean isNotAccepted(Failed failed) {
		return switch (failed.reason()) {
			case OVERLOADED, UNAVAILABLE, REBUILDING, CLOCK -> !failed.mayHaveHappened();
			default -> false;
		};
	}

	private static String message(List<Failed> replies) {
		return replies.stream().map(Failed::detail).distinct().collect(Collectors.joining("; "));
	}

	public Kind kind() {
		return this.kind;
	}

	/** How many replicas had to answer. */
	public int required() {
		return this.required;
	}

	/** How many did. */
	public int acknowledged() {
		return this.acknowledged;
	}

	/** The replicas that did not. */
	public List<ReplicaFailure> replicas() {
		return this.replicas;
	}

	/** Whether a write may have happened, or may yet show. */
	public boolean mayHaveHappened() {
		return this.mayHaveHappened;
	}

	/** Whether the same may succeed when tried again. */
	public boolean mayRetry() {
		return this.mayRetry;
	}

	/** What stood in the way. */
	public enum Kind {

		/** A limit, or nodes that start, stop or are rebuilt: nothing was done. */
		NOT_ACCEPTED,

		/** The disks have no space for it. */
		NO_SPACE,

		/** Too few replicas answered, or answered in time. */
		NOT_ENOUGH_REPLICAS

	}

	/** What became of the operation on one replica. */
	public record ReplicaFailure(String node, String reason, boolean mayHaveHappened, boolean mayRetry) {
	}

}
