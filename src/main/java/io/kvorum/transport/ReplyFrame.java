package io.kvorum.transport;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.quorum.Reply.Told;
import io.kvorum.replication.Answered;
import io.kvorum.replication.Listed;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import io.netty.buffer.ByteBuf;

/**
 * Reply of a replica. Its kind tells what the two numbers are: the version held or
 * promised, the flag of a last page, or the reason and flags of a failure. The tail is
 * the entry, page, answer, version held by a refusing replica, or detail of a failure.
 * <pre>
 *  0       4            8     9      17      25
 *  length  correlation  kind  first  second  tail
 * </pre>
 */
final class ReplyFrame implements Frame {

	private static final int VERSION_BYTES = 2 * Long.BYTES;

	private static final int FIXED = ReplicaProtocol.HEAD_BYTES + 2 * Long.BYTES;

	private static final int MAY_HAVE_HAPPENED = 1;

	private static final int MAY_RETRY = 2;

	/** Flag of a page that is the last of its range. */
	private static final int LAST = 1;

	/** Longest detail of a failure, in characters; the rest is cut off. */
	private static final int MAX_DETAIL_LENGTH = 500;

	final int correlation;

	final byte kind;

	final long first;

	final long second;

	private final byte[] tail;

	private ReplyFrame(int correlation, byte kind, long first, long second, byte[] tail) {
		this.correlation = correlation;
		this.kind = kind;
		this.first = first;
		this.second = second;
		this.tail = tail;
	}

	/** A frame that carries only its kind. */
	static ReplyFrame of(int correlation, byte kind) {
		return new ReplyFrame(correlation, kind, 0, 0, NO_BYTES);
	}

	/** Tells of other topologies of this node. */
	static ReplyFrame topology(TopologyNames topologies) {
		return new ReplyFrame(0, ReplicaProtocol.TOPOLOGY, 0, 0, topologies.toBytes());
	}

	/** The topologies that {@link #topology(TopologyNames)} tells of. */
	TopologyNames topology() {
		return TopologyNames.of(this.tail);
	}

	/** The frame of a reply to an operation on this key, with entries as stored. */
	static ReplyFrame of(int correlation, Key key, Reply reply) {
		return of(correlation, key, reply, EntryForm.STORED);
	}

	/**
	 * The frame of a reply to an operation on this key.
	 * @param form of the entries in it
	 */
	static ReplyFrame of(int correlation, Key key, Reply reply, EntryForm form) {
		return switch (reply) {
			case Acknowledged _ -> of(correlation, ReplicaProtocol.ACKNOWLEDGED);
			case Held held -> held(correlation, key, held, form);
			case Listed listed -> listed(correlation, listed.page(), form);
			case Answered answered ->
				new ReplyFrame(correlation, ReplicaProtocol.ANSWERED, 0, 0, form.written(answered));
			case Told _ -> throw new IllegalArgumentException("a reply of a kind that is not known here");
			case Failed failed -> failed(correlation, failed, form);
		};
	}

	private static ReplyFrame held(int correlation, Key key, Held held, EntryForm form) {
		Entry entry = held.entry();
		Version version = held.version();
		return (entry == null)
				? new ReplyFrame(correlation, ReplicaProtocol.HELD_VERSION, version.timestamp(), version.node(),
						NO_BYTES)
				: new ReplyFrame(correlation, ReplicaProtocol.HELD, version.timestamp(), version.node(),
						form.written(key, EntryFormat.encode(key, entry)));
	}

	private static ReplyFrame listed(int correlation, Page page, EntryForm form) {
		return new ReplyFrame(correlation, ReplicaProtocol.LISTED, page.isLast() ? LAST : 0, 0, form.written(page));
	}

	private static ReplyFrame failed(int correlation, Failed failed, EntryForm form) {
		Refusal refusal = failed.refusal();
		if (refusal == null || !form.knowsBallots()) {
			return new ReplyFrame(correlation, ReplicaProtocol.FAILED, failed.reason().code(), flags(failed),
					detail(failed));
		}
		Version promise = refusal.promise();
		Version held = refusal.held();
		byte[] tail = ByteBuffer.allocate(VERSION_BYTES).putLong(held.timestamp()).putLong(held.node()).array();
		return new ReplyFrame(correlation, ReplicaProtocol.REFUSED, promise.timestamp(), promise.node(), tail);
	}

	private static long flags(Failed failed) {
		return (failed.mayHaveHappened() ? MAY_HAVE_HAPPENED : 0) | (failed.mayRetry() ? MAY_RETRY : 0);
	}

	private static byte[] detail(Failed failed) {
		String detail = failed.detail();
		return detail.substring(0, Math.min(detail.length(), MAX_DETAIL_LENGTH)).getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Reads what follows the length.
	 * @throws RuntimeException if these bytes are no frame
	 */
	static ReplyFrame read(ByteBuf in) {
		int correlation = in.readInt();
		byte kind = in.readByte();
		long first = in.readLong();
		long second = in.readLong();
		byte[] tail = in.isReadable() ? new byte[in.readableBytes()] : NO_BYTES;
		in.readBytes(tail);
		return new ReplyFrame(correlation, kind, first, second, tail);
	}

	/**
	 * The reply to an operation on this key.
	 * @throws RuntimeException if this is no reply, or its entry is damaged
	 */
	Reply toReply(Key key) {
		return toReply(key, EntryForm.STORED);
	}

	/**
	 * The reply to an operation on this key.
	 * @param form of the entries in it
	 */
	Reply toReply(Key key, EntryForm form) {
		return switch (this.kind) {
			case ReplicaProtocol.ACKNOWLEDGED -> Acknowledged.INSTANCE;
			case ReplicaProtocol.HELD -> Held.of(form.read(key, this.tail));
			case ReplicaProtocol.HELD_VERSION -> new Held(new Version(this.first, this.second), null);
			case ReplicaProtocol.LISTED -> new Listed(form.readPage(this.tail, this.first == LAST));
			case ReplicaProtocol.ANSWERED -> new Answered(this.tail);
			case ReplicaProtocol.FAILED ->
				new Failed(Reason.ofCode(this.first), new String(this.tail, StandardCharsets.UTF_8),
						(this.second & MAY_HAVE_HAPPENED) != 0, (this.second & MAY_RETRY) != 0);
			case ReplicaProtocol.REFUSED -> refusal().toFailed();
			default -> throw new IllegalStateException("a frame of kind %d is no reply".formatted(this.kind));
		};
	}

	private Refusal refusal() {
		if (this.tail.length != VERSION_BYTES) {
			throw new IllegalStateException("%d bytes are no version".formatted(this.tail.length));
		}
		ByteBuffer held = ByteBuffer.wrap(this.tail);
		return new Refusal(new Version(this.first, this.second), new Version(held.getLong(), held.getLong()));
	}

	@Override
	public int headBytes() {
		return FIXED;
	}

	@Override
	public void writeHead(ByteBuf out) {
		out.writeInt(FIXED - Integer.BYTES + this.tail.length);
		out.writeInt(this.correlation);
		out.writeByte(this.kind);
		out.writeLong(this.first);
		out.writeLong(this.second);
	}

	@Override
	public byte[] tail() {
		return this.tail;
	}

}
