package io.kvorum.replication;

import java.util.List;

import io.kvorum.clock.ClockBoundException;
import io.kvorum.replication.OperationFailedException.Kind;
import io.kvorum.replication.OperationFailedException.ReplicaFailure;
import io.kvorum.storage.StorageException;
import io.kvorum.storage.StorageException.NoSpace;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.storage.StorageException.Unavailable;
import io.kvorum.storage.StorageException.ReadTimedOut;
import io.kvorum.storage.StorageException.Unreadable;
import io.kvorum.storage.StorageException.WriteFailed;
import io.kvorum.storage.StorageException.WriteTimedOut;

/** The replica of this node: what its failures mean for an operation. */
final class LocalReplica {

	private static final String NODE = "self";

	private LocalReplica() {
	}

	/** What an error of the replica means to who asked for the operation. */
	static Throwable failure(Throwable error) {
		return switch (error) {
			case StorageException ex -> failed(kindOf(ex), reasonOf(ex), ex.mayHaveBeenStored(), ex.mayRetry(), ex);
			case ClockBoundException ex -> failed(Kind.NOT_ACCEPTED, "clock", false, true, ex);
			default -> error;
		};
	}

	private static OperationFailedException failed(Kind kind, String reason, boolean mayHaveHappened, boolean mayRetry,
			Throwable cause) {
		return new OperationFailedException(kind, 1, 0,
				List.of(new ReplicaFailure(NODE, reason, mayHaveHappened, mayRetry)), cause);
	}

	private static Kind kindOf(StorageException ex) {
		return switch (ex) {
			case Overloaded _, Unavailable _ -> Kind.NOT_ACCEPTED;
			case NoSpace _ -> Kind.NO_SPACE;
			case Unreadable _, ReadTimedOut _, WriteFailed _, WriteTimedOut _ -> Kind.NOT_ENOUGH_REPLICAS;
		};
	}

	private static String reasonOf(StorageException ex) {
		return switch (ex) {
			case Overloaded _ -> "overloaded";
			case Unavailable _ -> "unavailable";
			case NoSpace _ -> "no-space";
			case Unreadable _ -> "unreadable";
			case WriteFailed _ -> "write-failed";
			case ReadTimedOut _, WriteTimedOut _ -> "timeout";
		};
	}

}
