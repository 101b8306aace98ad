package io.kvorum.simulation;

import io.kvorum.kv.Replicas;
import io.kvorum.replication.Replica;
import io.kvorum.simulation.SimulatedDisk.Manners;

/** How the nodes of a cluster work. As it stands: as the product does. */
interface Design {

	Design PRODUCT = new Design() {
	};

	default Operations operations(Parts parts) {
		return new ProductOperations(parts);
	}

	/** The replica of a node, for itself and others. */
	default Replica replica(Replica local) {
		return local;
	}

	/** The bound that the clock of a node goes on from, of the one it has stored. */
	default long clockBound(long storedMillis) {
		return storedMillis;
	}

	default Manners disk() {
		return Manners.WELL;
	}

	/** The replicas that a write of a client asks for. */
	default Replicas ofWrites(Replicas usual, Chance chance) {
		return usual;
	}

}
