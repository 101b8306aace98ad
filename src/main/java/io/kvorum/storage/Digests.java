package io.kvorum.storage;

import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Partitions;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * A digest of each partition of a store, over keys and versions only. Stores with equal
 * digests hold the same versions of the same keys, except with a probability of one in
 * 2^64.
 * <p>
 * Entries are grouped by their number of copies, since two replicas share only entries
 * with enough copies. A digest is the exclusive or of one number for each entry. So
 * entries are added and removed in any order, without a look at the others. Rejected: a
 * tree kept on disk, which costs each write a few more writes.
 * <p>
 * Takes 2 MB for each number of copies that occurs, if all slices have entries.
 * Thread-safe: a reader sees each {@link #toggle} as a whole or not at all. An overwrite
 * is two of them, so a reader may see it half done.
 */
public final class Digests {

	/** The length of a slice in {@link #toBytes(int)}. */
	private static final int SAVED_SLICE_BYTES = 1 + Short.BYTES + Partitions.IN_SLICE * Long.BYTES;

	private static final VarHandle LEAF = MethodHandles.arrayElementVarHandle(long[].class);

	/** Of entries with the default number of copies, whatever that is. */
	private static final int DEFAULT = 0;

	/**
	 * By number of copies, or {@link #DEFAULT}, for each slice its partitions; null
	 * without entries.
	 */
	private final AtomicReferenceArray<@Nullable AtomicReferenceArray<long[]>> ofCopies = new AtomicReferenceArray<>(
			Entry.MAX_COPIES + 1);

	/** A bit for each slice: whether it has leaves of any number of copies. */
	private final AtomicLongArray begun = new AtomicLongArray(Partitions.SLICES / Long.SIZE);

	/** The numbers of partitions whose entries are not all known. */
	private final Map<Integer, Long> unknown = new ConcurrentHashMap<>();

	private volatile boolean hasUnknown;

	/** The default number of copies. */
	private volatile int factor;

	/** The largest number of copies of any entry that has not the default. */
	private volatile int highest;

	private volatile boolean complete;

	/**
	 * The digests of a store without entries.
	 * @param factor the replicas of a key by default, until another number is given
	 */
	public Digests(int factor) {
		this.factor = factor;
	}

	/** Changes the number of replicas of a key by default. */
	public void become(int factor) {
		this.factor = factor;
	}

	/**
	 * Whether all entries that were stored before the opening are in the digests. They
	 * are read after it.
	 */
	public boolean isComplete() {
		return this.complete;
	}

	public void completed() {
		this.complete = true;
	}

	/**
	 * Adds an entry, or removes it if it is in.
	 * @param keyHash the hash of its key
	 */
	public void toggle(long keyHash, Version version, Copies copies) {
		int partition = Partitions.ofHash(keyHash);
		long[] leaves = sliceFor(copies.orDefault(DEFAULT), Partitions.sliceOf(partition));
		LEAF.getAndBitwiseXor(leaves, partition % Partitions.IN_SLICE, itemOf(keyHash, version));
	}

	private long[] sliceFor(int copies, int slice) {
		AtomicReferenceArray<long[]> slices = this.ofCopies.get(copies);
		if (slices == null) {
			begin(copies);
			return sliceFor(copies, slice);
		}
		long[] leaves = slices.get(slice);
		if (leaves == null) {
			// Before the leaves are there, so that none is passed over.
			this.begun.getAndAccumulate(slice / Long.SIZE, 1L << slice, (bits, bit) -> bits | bit);
			slices.compareAndSet(slice, null, new long[Partitions.IN_SLICE]);
			return sliceFor(copies, slice);
		}
		return leaves;
	}

	private synchronized void begin(int copies) {
		this.ofCopies.compareAndSet(copies, null, new AtomicReferenceArray<>(Partitions.SLICES));
		this.highest = Math.max(this.highest, copies);
	}

	/**
	 * Makes the digest of a partition differ from that of every other store, since not
	 * all of its entries are known.
	 * @param number unique to this store and partition
	 */
	public void unknown(int partition, long number) {
		sliceFor(1, Partitions.sliceOf(partition));
		this.unknown.put(partition, number);
		this.hasUnknown = true;
	}

	/**
	 * All digests, for {@link #add(ByteBuffer)} and {@link #completed()} of a later run
	 * with the same entries: for each number of copies and slice the number 1, the slice
	 * 2, and its leaves 8 each. Not to be called while entries come or go.
	 * @param mostBytes the most bytes
	 * @return null if that are more, or not all entries are known
	 */
	public byte @Nullable [] toBytes(int mostBytes) {
		if (!this.complete || this.hasUnknown) {
			return null;
		}
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		ByteBuffer saved = ByteBuffer.allocate(SAVED_SLICE_BYTES);
		for (int copies = 0; copies <= this.highest; copies++) {
			AtomicReferenceArray<long[]> slices = this.ofCopies.get(copies);
			for (int slice = 0; slices != null && slice < Partitions.SLICES; slice++) {
				long[] leaves = slices.get(slice);
				if (leaves != null) {
					if (bytes.size() + SAVED_SLICE_BYTES > mostBytes) {
						return null;
					}
					saved.clear().put((byte) copies).putShort((short) slice);
					saved.asLongBuffer().put(leaves);
					bytes.writeBytes(saved.array());
				}
			}
		}
		return bytes.toByteArray();
	}

	/** Adds digests of {@link #toBytes(int)}. */
	public void add(ByteBuffer saved) {
		while (saved.hasRemaining()) {
			int copies = Byte.toUnsignedInt(saved.get());
			long[] leaves = sliceFor(copies, saved.getShort());
			for (int i = 0; i < leaves.length; i++) {
				LEAF.getAndBitwiseXor(leaves, i, saved.getLong());
			}
		}
	}

	/**
	 * The slices that have had entries or have a partition that is
	 * {@link #unknown(int, long)}, in ascending order.
	 */
	public IntStream slices() {
		long[] bits = new long[this.begun.length()];
		Arrays.setAll(bits, this.begun::get);
		return BitSet.valueOf(bits).stream();
	}

	/**
	 * The digest of a partition's entries that have at least this number of copies; 0 if
	 * there are none.
	 */
	public long of(int partition, int minCopies) {
		long digest = this.hasUnknown ? this.unknown.getOrDefault(partition, 0L) : 0;
		if (this.factor >= minCopies) {
			digest ^= leaf(DEFAULT, partition);
		}
		for (int copies = minCopies; copies <= this.highest; copies++) {
			digest ^= leaf(copies, partition);
		}
		return digest;
	}

	private long leaf(int copies, int partition) {
		AtomicReferenceArray<long[]> slices = this.ofCopies.get(copies);
		long[] leaves = (slices != null) ? slices.get(Partitions.sliceOf(partition)) : null;
		return (leaves != null) ? (long) LEAF.getVolatile(leaves, partition % Partitions.IN_SLICE) : 0;
	}

	/** Whether a partition has no entries, known or not. */
	public boolean isEmpty(int partition) {
		return leaf(DEFAULT, partition) == 0 && !hasNumbersUpTo(partition, this.highest)
				&& !(this.hasUnknown && this.unknown.containsKey(partition));
	}

	/** Whether a partition has entries with at most this number of copies. */
	public boolean hasUpTo(int partition, int mostCopies) {
		return (this.factor <= mostCopies && leaf(DEFAULT, partition) != 0)
				|| hasNumbersUpTo(partition, Math.min(mostCopies, this.highest));
	}

	private boolean hasNumbersUpTo(int partition, int mostCopies) {
		for (int copies = 1; copies <= mostCopies; copies++) {
			if (leaf(copies, partition) != 0) {
				return true;
			}
		}
		return false;
	}

	/** The number of a version of a key in a digest, the same on every node. */
	public static long itemOf(long keyHash, Version version) {
		return mix(keyHash + mix(version.timestamp() + mix(version.node())));
	}

	/**
	 * One step of SplitMix64: adds the golden ratio, then applies Stafford's variant 13
	 * of the finalizer of MurmurHash3.
	 */
	public static long mix(long number) {
		long z = number + 0x9E3779B97F4A7C15L;
		z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
		z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
		return z ^ (z >>> 31);
	}

}
