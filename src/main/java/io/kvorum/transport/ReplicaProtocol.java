package io.kvorum.transport;

import java.util.regex.Pattern;

import io.kvorum.cluster.Member;
import io.kvorum.replication.PeerQuery;

/**
 * Constants of the replica protocol that both ends share.
 * <p>
 * A node opens a stream to another node with a POST. The request body is an endless
 * series of operations, the response body an endless series of replies. A frame is
 *
 * <pre>
 *  0       4            8     9
 *  length  correlation  kind  ...
 * </pre>
 *
 * The length counts the bytes from offset 4 on. Numbers are big-endian. Replies carry the
 * correlation of their operation and come in any order.
 */
final class ReplicaProtocol {

	static final String PATH = "/replica/stream";

	/** Path of the challenge for the {@link Handshake}. */
	static final String CHALLENGE_PATH = "/replica/challenge";

	/**
	 * The versions that this node speaks. Version 4 sends entries in format 1, version 5
	 * as they are stored, but without lineage, and version 6 with it: {@link EntryForm}.
	 * Version 6 adds {@link #WRITE_BACK}, {@link #PREPARE}, {@link #ACCEPT},
	 * {@link #REFUSED} and two kinds of {@link PeerQuery}. Version 7 adds
	 * {@link #TOPOLOGY} and names nodes by their tags. Any change of a frame, an entry, a
	 * message or the handshake needs a new version. The one before it stays supported.
	 */
	static final ProtocolRange VERSIONS = new ProtocolRange(4, 7);

	/**
	 * The oldest version of the calling node, and its only one if it names no newest. In
	 * the response, the version of the stream. A node that speaks only version 4 requires
	 * 4 here and responds without it.
	 */
	static final String VERSION_HEADER = "Kvorum-Protocol";

	/** The newest version of the calling node. */
	static final String NEWEST_VERSION_HEADER = "Kvorum-Protocol-Newest";

	/**
	 * The {@link TopologyNames} of the calling node. In the response, those of the called
	 * node; a node that does not send them has the same as the calling one.
	 */
	static final String TOPOLOGY_HEADER = "Kvorum-Topology";

	/** The address of the calling node. */
	static final String FROM_HEADER = "Kvorum-From";

	/** The address of the node to reach. */
	static final String TO_HEADER = "Kvorum-To";

	/** The challenge that is proven. */
	static final String CHALLENGE_HEADER = "Kvorum-Challenge";

	/** The calling node's nonce for this stream. */
	static final String NONCE_HEADER = "Kvorum-Nonce";

	/** The proof that a node knows the secret, in the request and in the response. */
	static final String PROOF_HEADER = "Kvorum-Proof";

	/** The hash of the text of a {@link PlainCall}, of which the proof is. */
	static final String TEXT_HEADER = "Kvorum-Text";

	/** The {@link Lane} of the stream. */
	static final String LANE_HEADER = "Kvorum-Lane";

	/** Bytes of length, correlation and kind. */
	static final int HEAD_BYTES = 9;

	/** Kinds of operations. */
	static final byte PING = 1;

	static final byte READ = 2;

	static final byte READ_VERSION = 3;

	static final byte STORE = 4;

	static final byte REPAIR = 5;

	static final byte SCAN = 6;

	static final byte QUERY = 7;

	/** From version 6 on; {@link #REPAIR} before. */
	static final byte WRITE_BACK = 8;

	/** The replies are those of a read, or {@link #REFUSED}. From version 6 on. */
	static final byte PREPARE = 9;

	/** From version 6 on. */
	static final byte ACCEPT = 10;

	/** Kinds of replies. */
	static final byte HELLO = 16;

	static final byte PONG = 17;

	static final byte HELD = 18;

	static final byte HELD_VERSION = 19;

	static final byte ACKNOWLEDGED = 20;

	static final byte FAILED = 21;

	/**
	 * Reply to a read or prepare whose entry has to be requested on the other lane.
	 */
	static final byte TOO_LARGE = 22;

	/** The node stops: the peer must send no more operations. */
	static final byte LEAVING = 23;

	static final byte LISTED = 24;

	static final byte ANSWERED = 25;

	/**
	 * Reply to a store or a ballot below a promise, from version 6 on. Older peers get
	 * {@link #FAILED}, with a reason that they take for an internal error.
	 */
	static final byte REFUSED = 26;

	/**
	 * The sender has other {@link TopologyNames} than it had before, in an operation and
	 * in a reply. From version 7 on.
	 */
	static final byte TOPOLOGY = 27;

	/** Scheme in the address of each node, with TLS and without. */
	private static final String SCHEME = "http://";

	private static final Pattern AN_ADDRESS = Pattern.compile("http://[A-Za-z0-9._:\\[\\]-]{1,255}:[0-9]{1,5}");

	/** Longest text of the other end that is passed on, in characters. */
	private static final int MAX_WORDS_LENGTH = 300;

	private ReplicaProtocol() {
	}

	/** The host that is dialled; a node's address is http://host:port. */
	static String host(Member member) {
		String address = member.address();
		return address.substring(SCHEME.length(), address.lastIndexOf(':'));
	}

	/** Whether a text of another node has the form of an address. */
	static boolean isAddress(String text) {
		return AN_ADDRESS.matcher(text).matches();
	}

	static String url(Member member, boolean isSecure, String path) {
		return (isSecure ? "https://" + member.address().substring(SCHEME.length()) : member.address()) + path;
	}

	/** Makes text of the other end safe for the log and the health endpoint. */
	static String printable(String words) {
		String line = words.replaceAll("[^\\x21-\\x7e]+", " ").strip();
		return line.substring(0, Math.min(line.length(), MAX_WORDS_LENGTH));
	}

	/** Kind of stream: large entries have their own, so as not to delay small ones. */
	enum Lane {

		SMALL(1 << 20), LARGE(32 << 20);

		/** Largest entry of the small lane, in bytes. */
		static final int SMALL_BYTES = 16 << 10;

		private final int maxWaitingBytes;

		Lane(int maxWaitingBytes) {
			this.maxWaitingBytes = maxWaitingBytes;
		}

		/** Limit of the bytes that wait for the network, on each end of a stream. */
		int maxWaitingBytes() {
			return this.maxWaitingBytes;
		}

	}

}
