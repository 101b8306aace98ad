package io.kvorum.simulation;

import io.kvorum.clock.Deadline;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.replication.Replica;
import io.kvorum.testing.ForwardedReplica;
import reactor.core.publisher.Mono;

/** A replica that does something wrong with ballots. */
final class BallotReplica extends ForwardedReplica {

	private final BallotFlaw flaw;

	BallotReplica(Replica replica, BallotFlaw flaw) {
		super(replica);
		this.flaw = flaw;
	}

	@Override
	public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
		return this.replica.store(key, entry, purpose, deadline)
			.map(reply -> (reply instanceof Failed failed && failed.refusal() != null) ? refused(failed, purpose)
					: reply);
	}

	private Reply refused(Failed failed, Purpose purpose) {
		boolean isClaimed = (purpose == Purpose.WRITE) ? this.flaw == BallotFlaw.PUT_CLAIMED
				: purpose == Purpose.WRITE_BACK && this.flaw == BallotFlaw.READ_NOT_WRITTEN_BACK;
		if (isClaimed) {
			return Acknowledged.INSTANCE;
		}
		return (purpose == Purpose.WRITE && this.flaw == BallotFlaw.REFUSAL_UNTOLD)
				? Failed.notDone(failed.reason(), failed.detail()) : failed;
	}

	@Override
	public Mono<Reply> accept(Key key, Entry entry, Version base, Deadline deadline) {
		Lineage lineage = entry.lineage();
		Version version = entry.version();
		Entry stored = (this.flaw == BallotFlaw.NEW_ETAG && lineage != null && lineage.isProposedAgain())
				? entry.under(version, new Lineage(version, lineage.isConditional(), true, lineage.ancestors()))
				: entry;
		return this.replica.accept(key, stored, base, deadline);
	}

}
