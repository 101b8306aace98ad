package io.kvorum.convergence.quarantine;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

import io.kvorum.convergence.quarantine.Membership.State;

/**
 * What a node remembers once its store was restored from a backup. Nobody needs to find
 * out that its disk is an old one, which others could only tell if they have not been
 * restarted since: it says so itself.
 */
public final class Restored {

	private Restored() {
	}

	/**
	 * Of a node whose peers have gone on: it lacks what it acknowledged since, may have
	 * what others have long collected, and is rebuilt.
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
	 * Of a node that was restored together with all others: no disk that it remembers is
	 * there any more, and no repair can be relied on, for its peer may be restored to
	 * before it.
	 * @param made when the backup was made: what is older was there in that life, if it
	 * turns out that others were not restored
	 */
	public static Map<String, byte[]> withAllOthers(Instant made) {
		return Map.of(NodeState.MEMBERSHIP, new Membership(State.RESTORED, 0).toBytes(), NodeState.ALIVE, alive(made));
	}

	private static byte[] alive(Instant made) {
		return ByteBuffer.allocate(Long.BYTES).putLong(made.toEpochMilli()).array();
	}

}
