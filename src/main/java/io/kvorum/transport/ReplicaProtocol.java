package io.kvorum.transport;

import io.kvorum.cluster.Member;

/**
 * The constants of the replica protocol, for both ends.
 * <p>
 * A node opens a stream to another one by a POST. Its body is an endless series of
 * operations, and its answer an endless series of replies. A frame is
 *
 * <pre>
 *  0       4            8     9
 *  length  correlation  kind  ...
 * </pre>
 *
 * with a length that counts from 4 on; numbers are big-endian. Replies carry the
 * correlation of their operation and come in any order.
 */
final class ReplicaProtocol {

	static final String PATH = "/replica/stream";

	/** The path of a challenge for the {@link Handshake}. */
	static final String CHALLENGE_PATH = "/replica/challenge";

	/**
	 * The versions that this node speaks. Entries are in format 1 in version 4, and as
	 * they are stored in version 5: {@link EntryForm}. Any change of a frame, an entry, a
	 * message or the handshake makes a new one, which the one before it stays beside.
	 */
	static final ProtocolRange VERSIONS = new ProtocolRange(4, 5);

	/**
	 * The oldest version that the node that calls speaks, which is the only one where it
	 * tells no newest; in the answer, the version of the stream. A node that knows only
	 * version 4 compares it with that, and answers without it.
	 */
	static final String VERSION_HEADER = "Kvorum-Protocol";

	/** The newest version that the node that calls speaks. */
	static final String NEWEST_VERSION_HEADER = "Kvorum-Protocol-Newest";

	/** The fingerprint of the topology of the node that calls. */
	static final String TOPOLOGY_HEADER = "Kvorum-Topology";

	/** The address of the node that calls. */
	static final String FROM_HEADER = "Kvorum-From";

	/** The address of the node that it wants to reach. */
	static final String TO_HEADER = "Kvorum-To";

	/** The challenge that the proof is for. */
	static final String CHALLENGE_HEADER = "Kvorum-Challenge";

	/** The nonce that the calling node has made for this stream. */
	static final String NONCE_HEADER = "Kvorum-Nonce";

	/** The proof that a node knows the secret, in the request and in the answer. */
	static final String PROOF_HEADER = "Kvorum-Proof";

	/** {@link Lane} of the stream. */
	static final String LANE_HEADER = "Kvorum-Lane";

	/** Length, correlation and kind. */
	static final int HEAD_BYTES = 9;

	/** Operations. */
	static final byte PING = 1;

	static final byte READ = 2;

	static final byte READ_VERSION = 3;

	static final byte STORE = 4;

	static final byte REPAIR = 5;

	static final byte SCAN = 6;

	static final byte QUESTION = 7;

	/** Replies. */
	static final byte HELLO = 16;

	static final byte PONG = 17;

	static final byte HELD = 18;

	static final byte HELD_VERSION = 19;

	static final byte ACKNOWLEDGED = 20;

	static final byte FAILED = 21;

	/** The reply to a read whose entry has to be asked for on the other lane. */
	static final byte TOO_LARGE = 22;

	/** The node is going to stop: no more operations, please. */
	static final byte LEAVING = 23;

	static final byte LISTED = 24;

	static final byte ANSWERED = 25;

	/** The scheme in the name of each node, with TLS as without. */
	private static final String SCHEME = "http://";

	/** The most characters of the other end's words that are passed on. */
	private static final int MAX_WORDS_LENGTH = 300;

	private ReplicaProtocol() {
	}

	static String fingerprint(long fingerprint) {
		return Long.toHexString(fingerprint);
	}

	/** The host of a node, by which it is dialled: its address is http://host:port. */
	static String host(Member member) {
		String address = member.address();
		return address.substring(SCHEME.length(), address.lastIndexOf(':'));
	}

	/** The URL of a path on a node. */
	static String url(Member member, boolean isSecure, String path) {
		return (isSecure ? "https://" + member.address().substring(SCHEME.length()) : member.address()) + path;
	}

	/** The words of the other end, made safe for logs and health. */
	static String printable(String words) {
		String line = words.replaceAll("[^\\x21-\\x7e]+", " ").strip();
		return line.substring(0, Math.min(line.length(), MAX_WORDS_LENGTH));
	}

	/** Large entries have a stream of their own, so that they hold up no small ones. */
	enum Lane {

		SMALL(1 << 20), LARGE(32 << 20);

		/** An entry with more bytes than this is large. */
		static final int SMALL_BYTES = 16 << 10;

		private final int maxWaitingBytes;

		Lane(int maxWaitingBytes) {
			this.maxWaitingBytes = maxWaitingBytes;
		}

		/** The most bytes that wait for the network, on each end of a stream. */
		int maxWaitingBytes() {
			return this.maxWaitingBytes;
		}

	}

}
