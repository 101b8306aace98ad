package io.kvorum.replication;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import io.kvorum.cluster.Member;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Tally;
import org.jspecify.annotations.Nullable;

/** Derives the failure of an operation from the replies of its replicas. */
public final class OperationFailures {

	private OperationFailures() {
	}

	/** The failure of a read, or of a write before its first store. */
	public static OperationFailedException ofReads(ReplicaSet set, Tally tally) {
		return of(set, tally, false, null);
	}

	/** The failure of a read that could not store what it found on enough replicas. */
	public static OperationFailedException ofWriteBack(ReplicaSet set, Tally tally) {
		return of(set, tally, false, Kind.NOT_ENOUGH_REPLICAS);
	}

	/**
	 * The failure of a write. Each replica that was asked may have stored the entry,
	 * unless its reply says that it has not.
	 */
	public static OperationFailedException ofStores(ReplicaSet set, Tally tally) {
		return of(set, tally, true, null);
	}

	/** The failure of a write that was not begun because too few replicas are there. */
	public static OperationFailedException ofAbsentees(ReplicaSet set) {
		Tally tally = Tally.awaiting(set.quorum());
		for (int position = set.present(); position < set.size(); position++) {
			tally = tally.add(position, Failed.notDone(Reason.AWAY, "the replica is known to be away"));
		}
		return of(set, tally, false, null);
	}

	/**
	 * The failure of a conditional write to which others came in between until its
	 * deadline. It has sent nothing to be stored.
	 */
	public static OperationFailedException ofContention(int required) {
		return new OperationFailedException(Kind.CONTENTION, "other writes of the key came in between", required, 0,
				false, true, List.of());
	}

	/**
	 * The failure of a write that was sent to replicas, and of which the key does not
	 * tell whether it happened.
	 */
	public static OperationFailedException ofUnclear(int required) {
		return new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, "other writes of the key came in between",
				required, 0, true, true, List.of());
	}

	/**
	 * The failure of a write that was sent to replicas, was not found, and has expired
	 * since. To send it again makes no sense.
	 */
	public static OperationFailedException ofExpired(int required) {
		return new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, "the value expired before enough replicas had it",
				required, 0, true, false, List.of());
	}

	/** The failure of a write whose idempotency key another write uses right now. */
	public static OperationFailedException ofUnderWay(int required) {
		return new OperationFailedException(Kind.UNDER_WAY, "a write with the same idempotency key is under way",
				required, 0, true, true, List.of());
	}

	/** The failure of a write whose idempotency key belongs to another write. */
	public static OperationFailedException ofReusedKey(int required) {
		return new OperationFailedException(Kind.KEY_REUSED, "the idempotency key belongs to another write", required,
				0, false, false, List.of());
	}

	/**
	 * The failure of a write that was not begun because its record failed. The record may
	 * be there; what it announces was not sent.
	 */
	public static OperationFailedException ofRecord(OperationFailedException failure) {
		return of(failure, failure.kind(), false);
	}

	/**
	 * The failure of a write that was sent to replicas before a step of it failed, or
	 * that an earlier request may have sent. It keeps what the replicas replied to that
	 * step.
	 */
	public static OperationFailedException unclear(OperationFailedException step) {
		return step.mayHaveHappened() ? step : of(step, Kind.NOT_ENOUGH_REPLICAS, true);
	}

	private static OperationFailedException of(OperationFailedException failure, Kind kind, boolean mayHaveHappened) {
		return new OperationFailedException(kind, String.valueOf(failure.getMessage()), failure.required(),
				failure.acknowledged(), mayHaveHappened, mayHaveHappened || failure.mayRetry(), failure.replicas());
	}

	/** The failure of an operation that this node could not begin. */
	public static OperationFailedException notBegun(int required, Member self, Failed why) {
		Kind kind = (why.reason() == Reason.NO_SPACE) ? Kind.NO_SPACE : Kind.NOT_ACCEPTED;
		return new OperationFailedException(kind, why.detail(), required, 0, false, true,
				List.of(new ReplicaFailure(self.address(), why.reason().text(), false, true)));
	}

	private static OperationFailedException of(ReplicaSet set, Tally tally, boolean stores, @Nullable Kind known) {
		List<ReplicaFailure> failures = new ArrayList<>();
		List<Failed> replies = new ArrayList<>();
		for (int position = 0; position < set.size(); position++) {
			String node = set.at(position).member().address();
			Reply reply = tally.reply(position);
			if (reply == null) {
				failures.add(new ReplicaFailure(node, ReplicaFailure.PENDING, stores, true));
			}
			else if (reply instanceof Failed failed) {
				replies.add(failed);
				failures.add(new ReplicaFailure(node, failed.reason().text(), stores && failed.mayHaveHappened(),
						failed.mayRetry()));
			}
		}
		boolean mayHaveHappened = stores
				&& (tally.hasSuccess() || failures.stream().anyMatch(ReplicaFailure::mayHaveHappened));
		long lasting = failures.stream().filter(replica -> !replica.mayRetry()).count();
		return new OperationFailedException((known != null) ? known : kindOf(tally, replies, mayHaveHappened),
				message(replies), tally.required(), tally.succeeded(), mayHaveHappened,
				tally.replicas() - lasting >= tally.required(), failures);
	}

	private static Kind kindOf(Tally tally, List<Failed> replies, boolean mayHaveHappened) {
		if (replies.isEmpty()) {
			return Kind.NOT_ENOUGH_REPLICAS;
		}
		if (replies.stream().allMatch(failed -> failed.reason() == Reason.NO_SPACE)) {
			return Kind.NO_SPACE;
		}
		boolean isNotBegun = !tally.hasSuccess() && !mayHaveHappened;
		return (isNotBegun && replies.stream().allMatch(OperationFailures::isNotAccepted)) ? Kind.NOT_ACCEPTED
				: Kind.NOT_ENOUGH_REPLICAS;
	}

	/** Whether a replica refused to begin, and may accept the same soon after. */
	private static boolean isNotAccepted(Failed failed) {
		return switch (failed.reason()) {
			case OVERLOADED, UNAVAILABLE, REBUILDING, CLOCK -> !failed.mayHaveHappened();
			default -> false;
		};
	}

	private static String message(List<Failed> replies) {
		return replies.stream().map(Failed::detail).distinct().collect(Collectors.joining("; "));
	}

}
