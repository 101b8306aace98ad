package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

import io.kvorum.convergence.quarantine.Membership.State;

/**
 * Records of a node whose store was restored from a backup. They say that its disk is
 * stale: peers could show that only if they have not restarted since the backup.
 */
public final class Restored {

	private Restored() {
	}

	/**
	 * The records of a node whose peers have gone on. It lacks what it acknowledged since
	 * the backup, may hold what others have collected, and is rebuilt.
	 * @param made when the backup was made, which was the end of that life
	 */
	public static Map<String, byte[]> alone(Map<String, byte[]> recorded, Instant made) {
		Map<String, byte[]> records = new HashMap<>(recorded);
		byte[] before = recorded.get(NodeState.MEMBERSHIP);
		long admittedMillis = (before != null) ? Membership.of(before).admittedMillis() : 0;
		records.put(NodeState.MEMBERSHIP, new Membership(State.STALE_DISK, admittedMillis).toBytes());
		records.put(NodeState.ALIVE, alive(made));
		return records;
	}

	/**
	 * The records of a node that was restored together with all others. It forgets the
	 * disks of its peers, which are gone, and its repairs with them: a peer may be
	 * restored to a moment before a repair.
	 * @param recorded the records of the backup, of which the name of the cluster remains
	 * @param layout the record of the layout, if there is one
	 * @param made when the backup was made. It counts as the end of the last life if it
	 * turns out that others were not restored.
	 */
	public static Map<String, byte[]> withAllOthers(Map<String, byte[]> recorded, Map<String, byte[]> layout,
			Instant made) {
		Map<String, byte[]> records = new HashMap<>(layout);
		byte[] name = recorded.get(NodeState.CLUSTER);
		if (name != null) {
			records.put(NodeState.CLUSTER, name);
		}
		records.put(NodeState.MEMBERSHIP, new Membership(State.RESTORED, 0).toBytes());
		records.put(NodeState.ALIVE, alive(made));
		return records;
	}

	/**
	 * The records of a node that begins without other nodes. It is told to take the
	 * backup, also that of a member.
	 */
	public static Map<String, byte[]> withoutOthers(Map<String, byte[]> recorded) {
		Map<String, byte[]> records = new HashMap<>(recorded);
		records.remove(NodeState.NODES);
		return records;
	}

	private static byte[] alive(Instant made) {
		return ByteBuffer.allocate(Long.BYTES).putLong(made.toEpochMilli()).array();
	}

}
