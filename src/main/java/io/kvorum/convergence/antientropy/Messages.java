package io.kvorum.convergence.antientropy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.replication.Answered;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.PeerQuery.Kind;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.storage.PromiseRecord;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the queries by which replicas find their differences, and the answers.
 * Numbers are big-endian. A number in parentheses is a length in bytes.
 * <p>
 * Reading throws a {@link RuntimeException} if the bytes are no such message.
 */
final class Messages {

	private static final int STUB_FIXED = Short.BYTES + 2 * Long.BYTES + 2;

	private Messages() {
	}

	/**
	 * Query: the tag or index of the asking member (4). Answer: for each slice a digest
	 * (8).
	 */
	static PeerQuery askSlices(int asker) {
		return new PeerQuery(Kind.SLICES, ByteBuffer.allocate(Integer.BYTES).putInt(asker).array());
	}

	/**
	 * Query: the tag or index of the asking member (4), slices (4 each). Answer: for each
	 * partition of these slices a digest (8).
	 */
	static PeerQuery askLeaves(int asker, List<Integer> slices) {
		ByteBuffer out = ByteBuffer.allocate(Integer.BYTES * (1 + slices.size())).putInt(asker);
		slices.forEach(out::putInt);
		return new PeerQuery(Kind.LEAVES, out.array());
	}

	static List<Integer> readSlices(ByteBuffer in) {
		List<Integer> slices = new ArrayList<>(in.remaining() / Integer.BYTES);
		while (in.hasRemaining()) {
			slices.add(in.getInt());
		}
		return slices;
	}

	static byte[] digests(long[] digests) {
		ByteBuffer out = ByteBuffer.allocate(digests.length * Long.BYTES);
		out.asLongBuffer().put(digests);
		return out.array();
	}

	/** Reads the digests of an answer, as many as were asked for. */
	static long[] readDigests(byte[] answer, int count) {
		if (answer.length != count * Long.BYTES) {
			throw new IllegalArgumentException("%d bytes for %d digests".formatted(answer.length, count));
		}
		long[] digests = new long[count];
		ByteBuffer.wrap(answer).asLongBuffer().get(digests);
		return digests;
	}

	/**
	 * Query: for each leaf its partition (4), the number of items (4), and the items (8
	 * each). Answer, for each leaf or only the first ones: the number of entries (4) and
	 * the entries. Then the number of lacking items (4) and their positions (4 each).
	 * Each entry: the length of its key (2), the key, its version (16), its copies (1),
	 * whether it is a tombstone (1).
	 */
	static PeerQuery compare(List<Leaf> leaves) {
		int length = 0;
		for (Leaf leaf : leaves) {
			length += 2 * Integer.BYTES + leaf.items.length * Long.BYTES;
		}
		ByteBuffer out = ByteBuffer.allocate(length);
		for (Leaf leaf : leaves) {
			out.putInt(leaf.partition).putInt(leaf.items.length);
			for (long item : leaf.items) {
				out.putLong(item);
			}
		}
		return new PeerQuery(Kind.COMPARE, out.array());
	}

	static List<Leaf> readLeaves(ByteBuffer in) {
		List<Leaf> leaves = new ArrayList<>();
		while (in.hasRemaining()) {
			int partition = in.getInt();
			long[] items = new long[checkedCount(in, Long.BYTES)];
			for (int i = 0; i < items.length; i++) {
				items[i] = in.getLong();
			}
			leaves.add(new Leaf(partition, items));
		}
		return leaves;
	}

	/**
	 * Reads the number of items that follow.
	 * @param bytes the least length of an item
	 */
	private static int checkedCount(ByteBuffer in, int bytes) {
		int count = in.getInt();
		if (count < 0 || count > in.remaining() / bytes) {
			throw new IllegalArgumentException("%d items in %d bytes".formatted(count, in.remaining()));
		}
		return count;
	}

	/** The length of a difference in bytes. */
	static int lengthOf(Difference difference) {
		int length = 2 * Integer.BYTES + difference.lacking.length * Integer.BYTES;
		for (EntryHeader header : difference.theirs) {
			length += STUB_FIXED + header.key().bytes().length;
		}
		return length;
	}

	/**
	 * The answer to {@link #compare}.
	 * @param copies the number of members that are to hold an entry. The default is sent
	 * as its number, which is the same on all members of a topology.
	 */
	static byte[] differences(List<Difference> differences, ToIntFunction<Copies> copies) {
		ByteBuffer out = ByteBuffer.allocate(differences.stream().mapToInt(Messages::lengthOf).sum());
		for (Difference difference : differences) {
			out.putInt(difference.theirs.size());
			difference.theirs.forEach(header -> put(out, header, copies.applyAsInt(header.copies())));
			out.putInt(difference.lacking.length);
			for (int position : difference.lacking) {
				out.putInt(position);
			}
		}
		return out.array();
	}

	private static void put(ByteBuffer out, EntryHeader header, int copies) {
		putKey(out, header.key());
		out.putLong(header.version().timestamp())
			.putLong(header.version().node())
			.put((byte) copies)
			.put((byte) (header.tombstone() ? 1 : 0));
	}

	/**
	 * Reads the differences in the leaves that were asked about, or in the first ones.
	 */
	static List<Difference> readDifferences(byte[] answer, List<Leaf> asked) {
		ByteBuffer in = ByteBuffer.wrap(answer);
		List<Difference> differences = new ArrayList<>();
		while (in.hasRemaining()) {
			Leaf leaf = asked.get(differences.size());
			int headers = checkedCount(in, STUB_FIXED);
			List<EntryHeader> theirs = new ArrayList<>(headers);
			for (int i = 0; i < headers; i++) {
				theirs.add(readStub(in));
			}
			int[] lacking = new int[checkedCount(in, Integer.BYTES)];
			for (int i = 0; i < lacking.length; i++) {
				lacking[i] = in.getInt();
				if (lacking[i] < 0 || lacking[i] >= leaf.items.length) {
					throw new IllegalArgumentException("there is no item " + lacking[i]);
				}
			}
			differences.add(new Difference(theirs, lacking));
		}
		return differences;
	}

	private static EntryHeader readStub(ByteBuffer in) {
		Key key = readKey(in);
		return new EntryHeader(key, new Version(in.getLong(), in.getLong()), in.get() & 0xff, in.get() != 0);
	}

	/**
	 * Query: for each key its length (2) and the key. Answer: whether the page has the
	 * entries of all keys (1), then a {@link Page}.
	 */
	static PeerQuery fetch(List<Key> keys) {
		return new PeerQuery(Kind.FETCH, keys(keys));
	}

	/** The same as {@link #fetch} for one key, however long its entry is. */
	static PeerQuery fetchWhole(Key key) {
		return new PeerQuery(Kind.FETCH_WHOLE, keys(List.of(key)));
	}

	private static byte[] keys(List<Key> keys) {
		ByteBuffer out = ByteBuffer.allocate(keys.stream().mapToInt(key -> Short.BYTES + key.bytes().length).sum());
		keys.forEach(key -> putKey(out, key));
		return out.array();
	}

	static List<Key> readKeys(ByteBuffer in) {
		List<Key> keys = new ArrayList<>();
		while (in.hasRemaining()) {
			keys.add(readKey(in));
		}
		return keys;
	}

	private static void putKey(ByteBuffer out, Key key) {
		out.putShort((short) key.bytes().length).put(key.bytes());
	}

	private static Key readKey(ByteBuffer in) {
		byte[] bytes = new byte[in.getShort() & 0xffff];
		in.get(bytes);
		return Key.of(bytes);
	}

	/**
	 * Query: the length of a key (2) and the key behind which to begin; nothing to begin
	 * with the first. Answer: for each promise the length of its key (2), the key, the
	 * ballot (16); none if there are no more.
	 */
	static PeerQuery promises(@Nullable Key after) {
		return new PeerQuery(Kind.PROMISES, (after != null) ? keys(List.of(after)) : new byte[0]);
	}

	static @Nullable Key readAfter(ByteBuffer in) {
		return in.hasRemaining() ? readKey(in) : null;
	}

	static byte[] promises(List<PromiseRecord> promises) {
		ByteBuffer out = ByteBuffer.allocate(promises.stream()
			.mapToInt(promise -> Short.BYTES + promise.key().bytes().length + 2 * Long.BYTES)
			.sum());
		for (PromiseRecord promise : promises) {
			putKey(out, promise.key());
			out.putLong(promise.ballot().timestamp()).putLong(promise.ballot().node());
		}
		return out.array();
	}

	static List<PromiseRecord> readPromises(byte[] answer) {
		ByteBuffer in = ByteBuffer.wrap(answer);
		List<PromiseRecord> promises = new ArrayList<>();
		while (in.hasRemaining()) {
			promises.add(new PromiseRecord(readKey(in), new Version(in.getLong(), in.getLong())));
		}
		return promises;
	}

	static Answered page(Page page) {
		byte[] items = page.toBytes();
		return Answered
			.withPage(ByteBuffer.allocate(1 + items.length).put((byte) (page.isLast() ? 1 : 0)).put(items).array(), 1);
	}

	/**
	 * Reads the page of an answer. Its entries are in format 1 if the peer runs an older
	 * version of Kvorum.
	 * @param factor the default number of replicas of a key
	 */
	static Page readPage(byte[] answer, int factor) {
		ByteBuffer in = ByteBuffer.wrap(answer);
		boolean last = in.get() != 0;
		byte[] items = new byte[in.remaining()];
		in.get(items);
		return Page.ofFormat1(items, last, factor);
	}

}
