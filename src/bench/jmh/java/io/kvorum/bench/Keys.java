package io.kvorum.bench;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import io.kvorum.kv.Key;

/** Keys of 16 bytes, in an order that nothing can guess, given one after the other. */
final class Keys {

	private static final long SEED = 25;

	private final Key[] keys;

	private int next;

	/** Makes so many keys; another name makes other keys. */
	Keys(String name, int count) {
		this(name, count, 1);
	}

	/** Takes every n-th of so many keys in the order of their bytes. */
	Keys(String name, int count, int step) {
		List<Key> keys = new ArrayList<>(IntStream.iterate(0, number -> number < count, number -> number + step)
			.mapToObj(number -> key("%s/%011d".formatted(name, number)))
			.toList());
		Collections.shuffle(keys, new Random(SEED));
		this.keys = keys.toArray(Key[]::new);
	}

	private static Key key(String text) {
		return Key.of(text.getBytes(StandardCharsets.US_ASCII));
	}

	/** Returns the next key in turn, in a circle. */
	Key next() {
		Key key = this.keys[this.next];
		this.next = (this.next + 1 < this.keys.length) ? this.next + 1 : 0;
		return key;
	}

	int count() {
		return this.keys.length;
	}

}
