package io.kvorum.replication;

import java.nio.ByteBuffer;
import java.util.Arrays;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.replication.PeerQuery.Kind;
import io.kvorum.storage.EntryFormat;
import org.jspecify.annotations.Nullable;

/**
 * The state of a key on a replica, without its value.
 *
 * @param promise the highest ballot promised; {@link Version#ABSENT} without one
 * @param entry the entry with an empty value; null without an entry
 */
public record KeyHead(Version promise, @Nullable Entry entry) {

	private static final Value NO_VALUE = Value.of(new byte[0]);

	private static final int PROMISE_BYTES = 2 * Long.BYTES;

	/**
	 * The head of what a store holds of a key.
	 * @param beside the ballot that is promised beside the entry. An entry that was
	 * stored under a ballot is a promise too.
	 * @param stored null without an entry
	 */
	static KeyHead of(Version beside, @Nullable Entry stored) {
		if (stored == null) {
			return new KeyHead(beside, null);
		}
		boolean isPromise = stored.lineage() != null && stored.version().isNewerThan(beside);
		return new KeyHead(isPromise ? stored.version() : beside, withoutValue(stored));
	}

	private static Entry withoutValue(Entry entry) {
		return (entry instanceof Live live) ? new Live(live.version(), live.copies(), live.expiresAtMillis(),
				live.contentType(), NO_VALUE, live.lineage()) : entry;
	}

	/** The query for the head of a key; its body is the key. */
	public static PeerQuery query(Key key) {
		return new PeerQuery(Kind.HEAD, key.bytes());
	}

	/**
	 * The key of a query.
	 * @throws IllegalArgumentException if its body is none
	 */
	static Key keyOf(PeerQuery query) {
		byte[] key = new byte[query.body().remaining()];
		query.body().get(key);
		return Key.of(key);
	}

	/**
	 * The answer: the promise (16 bytes), then the entry in {@link EntryFormat}, if there
	 * is one. Numbers are big-endian.
	 */
	Answered toAnswer(Key key) {
		byte[] stored = (this.entry != null) ? EntryFormat.encode(key, this.entry) : new byte[0];
		return new Answered(ByteBuffer.allocate(PROMISE_BYTES + stored.length)
			.putLong(this.promise.timestamp())
			.putLong(this.promise.node())
			.put(stored)
			.array());
	}

	/**
	 * Reads an answer.
	 * @throws RuntimeException if the bytes are no answer about this key
	 */
	public static KeyHead read(Key key, byte[] answer) {
		ByteBuffer in = ByteBuffer.wrap(answer);
		Version promise = new Version(in.getLong(), in.getLong());
		byte[] stored = Arrays.copyOfRange(answer, PROMISE_BYTES, answer.length);
		return new KeyHead(promise, (stored.length > 0) ? EntryFormat.decode(key, stored) : null);
	}

}
