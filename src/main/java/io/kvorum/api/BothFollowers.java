package io.kvorum.api;

import io.kvorum.kv.Replicas;
import io.kvorum.replication.OperationEvents;
import io.kvorum.replication.RangeEvents;
import io.kvorum.replication.ReplicationEvents;
import io.kvorum.replication.ReplicationPolicy.Consistency;
import org.jspecify.annotations.Nullable;

/** Two who follow one operation: who traces it, and its client. */
record BothFollowers(OperationEvents one, OperationEvents other) implements OperationEvents {

	/** Those of the two that are there. */
	static OperationEvents of(@Nullable OperationEvents one, @Nullable OperationEvents other) {
		if (one == null) {
			return (other != null) ? other : NONE;
		}
		return (other != null) ? new BothFollowers(one, other) : one;
	}

	@Override
	public void began(Replicas asked, Consistency consistency) {
		this.one.began(asked, consistency);
		this.other.began(asked, consistency);
	}

	@Override
	public void began(RangeEvents.Scope scope) {
		this.one.began(scope);
		this.other.began(scope);
	}

	@Override
	public Call asked(String replica, Step step, boolean hedge) {
		Call ofOne = this.one.asked(replica, step, hedge);
		Call ofOther = this.other.asked(replica, step, hedge);
		return (outcome, nanos) -> {
			ofOne.ended(outcome, nanos);
			ofOther.ended(outcome, nanos);
		};
	}

	@Override
	public void took(Step step, long nanos) {
		this.one.took(step, nanos);
		this.other.took(step, nanos);
	}

	@Override
	public void decided(ReplicationEvents.Outcome outcome) {
		this.one.decided(outcome);
		this.other.decided(outcome);
	}

	@Override
	public void ended(RangeEvents.Outcome outcome) {
		this.one.ended(outcome);
		this.other.ended(outcome);
	}

}
