package io.kvorum.simulation;

import java.time.Duration;
import java.util.function.Predicate;

import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.change.Changeover.Comparison;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Version;
import io.kvorum.replication.PromiseCopying;
import io.kvorum.replication.Replica;
import io.kvorum.replication.VotingRight;
import io.kvorum.simulation.SimulatedDisk.Manners;
import io.kvorum.storage.NodeRecord;
import org.jspecify.annotations.Nullable;

/** How the nodes of a cluster work. As it stands: as the product does. */
interface Design {

	Design PRODUCT = new Design() {
	};

	default Operations operations(Parts parts) {
		return new ProductOperations(parts);
	}

	/** The replica of a node, for itself and others. */
	default Replica replica(Replica local, TimeSource time) {
		return local;
	}

	/**
	 * The record of repairs that tombstones are collected by; null for that of repairs.
	 */
	default @Nullable NodeRecord forgedRepairs(Topology topology) {
		return null;
	}

	/** The versions of tombstones that a node takes for collected. */
	default Predicate<Version> collected(Predicate<Version> usual) {
		return usual;
	}

	/** After which absence, or difference of backups, a node does not vote. */
	default Duration mostAway(Duration usual) {
		return usual;
	}

	/** How long an entry has to have expired before it becomes a tombstone. */
	default Duration expiryMargin(Duration usual) {
		return usual;
	}

	/** Whether every node takes itself for a member whatever its disk lacks. */
	default boolean acceptsLoss() {
		return false;
	}

	/** Whether hints are handed over and replicas are compared. */
	default boolean repairs() {
		return true;
	}

	/** The right to vote of a node, which it has by its disk. */
	default VotingRight votingRight(VotingRight usual) {
		return usual;
	}

	/** How a node that is rebuilt gets the promises of others. */
	default PromiseCopying promises(PromiseCopying usual) {
		return usual;
	}

	/** The bound that the clock of a node goes on from, of the one it has stored. */
	default long clockBound(long storedMillis) {
		return storedMillis;
	}

	/**
	 * Whether a node works with another one.
	 * @param usual what it decides by its step in a change
	 */
	default boolean accepts(boolean usual) {
		return usual;
	}

	/** How a node is compared with others in a change of the topology. */
	default Comparison comparison(Comparison usual) {
		return usual;
	}

	/** The operations of a node in a change of the topology. */
	default Parts inChange(Parts usual) {
		return usual;
	}

	/**
	 * Whether a node that takes another layout tells others only once the operations that
	 * it began with the one before are over.
	 */
	default boolean drains() {
		return true;
	}

	/** Whether digests follow the number of replicas of a layout. */
	default boolean followsFactor() {
		return true;
	}

	/** The chance that a change is given up. */
	default double aborts() {
		return 0.25;
	}

	/** The limit of the time of a write while layouts change. */
	default Duration longestWrite(Chance chance) {
		return Duration.ofSeconds(1 + chance.below(6));
	}

	default Manners disk() {
		return Manners.WELL;
	}

	/** Whether writes may have conditions. */
	default boolean knowsConditions() {
		return true;
	}

	/** The replicas that a write of a client asks for. */
	default Replicas ofWrites(Replicas usual, Chance chance) {
		return usual;
	}

}
