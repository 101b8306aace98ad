package io.kvorum.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import io.kvorum.kv.Replicas;

/** The levels of Cassandra for the numbers of replicas of an operation. */
final class Levels {

	private Levels() {
	}

	/** The level at which so many replicas answer. */
	static ConsistencyLevel of(Replicas asked) {
		int ack = asked.ack();
		if (ack == majority(asked)) {
			return DefaultConsistencyLevel.QUORUM;
		}
		if (ack == asked.from()) {
			return DefaultConsistencyLevel.ALL;
		}
		return switch (ack) {
			case 1 -> DefaultConsistencyLevel.ONE;
			case 2 -> DefaultConsistencyLevel.TWO;
			case 3 -> DefaultConsistencyLevel.THREE;
			default -> throw new IllegalArgumentException("Cassandra has no level for " + asked);
		};
	}

	/** The level of a read. No serial level asks more replicas than a majority. */
	static ConsistencyLevel ofRead(Replicas asked, boolean isLinearizable) {
		return (isLinearizable && asked.ack() <= majority(asked)) ? DefaultConsistencyLevel.SERIAL : of(asked);
	}

	/**
	 * The level at which a transaction is committed: that of its operation, if this is
	 * linearizable.
	 */
	static ConsistencyLevel ofCommit(Replicas asked, boolean isLinearizable) {
		return isLinearizable ? of(asked) : DefaultConsistencyLevel.QUORUM;
	}

	private static int majority(Replicas asked) {
		return asked.from() / 2 + 1;
	}

}
