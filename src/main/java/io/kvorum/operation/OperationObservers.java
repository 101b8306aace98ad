package io.kvorum.operation;

import io.kvorum.kv.Replicas;
import io.kvorum.operation.ReplicationPolicy.Consistency;

/** Two observers of one operation. */
record OperationObservers(OperationObserver one, OperationObserver other) implements OperationObserver {

	@Override
	public void began(Replicas asked, Consistency consistency) {
		this.one.began(asked, consistency);
		this.other.began(asked, consistency);
	}

	@Override
	public void began(RangeScope scope) {
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
	public void attempted(int attempt) {
		this.one.attempted(attempt);
		this.other.attempted(attempt);
	}

	@Override
	public void took(Step step, long nanos) {
		this.one.took(step, nanos);
		this.other.took(step, nanos);
	}

	@Override
	public void decided(Outcome outcome) {
		this.one.decided(outcome);
		this.other.decided(outcome);
	}

	@Override
	public void ended(RangeOutcome outcome) {
		this.one.ended(outcome);
		this.other.ended(outcome);
	}

}
