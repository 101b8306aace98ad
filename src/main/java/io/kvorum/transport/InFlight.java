package io.kvorum.transport;

import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The calls under way on a stream, by correlation. A correlation combines the number of a
 * slot with its count of uses, so a late reply matches no call. Used on one event loop
 * only.
 */
final class InFlight {

	private final @Nullable PeerCall[] slots;

	private final int[] uses;

	/** The numbers of free slots: the first {@code slots.length - size} of them. */
	private final int[] free;

	private final int max;

	private int size;

	InFlight(int max) {
		this.max = max;
		// A power of two, so that the uses of a slot may overflow.
		int length = Integer.highestOneBit(Math.max(1, 2 * max - 1));
		this.slots = new PeerCall[length];
		this.uses = new int[length];
		this.free = new int[length];
		for (int i = 0; i < length; i++) {
			this.free[i] = i;
		}
	}

	int size() {
		return this.size;
	}

	boolean isFull() {
		return this.size == this.max;
	}

	/** Adds a call and returns its correlation. */
	int add(PeerCall call) {
		int slot = this.free[this.slots.length - ++this.size];
		this.slots[slot] = call;
		this.uses[slot]++;
		return correlation(slot);
	}

	private int correlation(int slot) {
		return this.uses[slot] * this.slots.length + slot;
	}

	/** Removes the call with this correlation; null if it was removed before. */
	@Nullable PeerCall remove(int correlation) {
		int slot = Math.floorMod(correlation, this.slots.length);
		return (correlation(slot) == correlation) ? free(slot) : null;
	}

	private @Nullable PeerCall free(int slot) {
		PeerCall call = this.slots[slot];
		if (call != null) {
			this.slots[slot] = null;
			this.free[this.slots.length - this.size--] = slot;
		}
		return call;
	}

	/** The bytes that were sent with the calls under way. */
	long sentBytes() {
		long bytes = 0;
		for (PeerCall call : this.slots) {
			bytes += (call != null) ? call.sentBytes : 0;
		}
		return bytes;
	}

	/** Removes the calls that match and hands them out. */
	void removeIf(Predicate<PeerCall> condition, Consumer<PeerCall> removed) {
		for (int slot = 0; slot < this.slots.length && this.size > 0; slot++) {
			PeerCall call = this.slots[slot];
			if (call != null && condition.test(call)) {
				free(slot);
				removed.accept(call);
			}
		}
	}

}
