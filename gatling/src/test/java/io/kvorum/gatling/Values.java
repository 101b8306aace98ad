package io.kvorum.gatling;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Values that only one key can have. A value is its generation, eight bytes, and
 * pseudo-random bytes that follow from the key and the generation: the value of another
 * key, a part of one, two that were mixed and a flipped bit are all found, without
 * knowing which write came last.
 */
final class Values {

	/** Below this two values might be equal by chance. */
	static final int MIN_BYTES = 16;

	private static final long FNV_OFFSET = 0xcbf29ce484222325L;

	private static final long FNV_PRIME = 0x100000001b3L;

	private final int bytes;

	Values(Settings settings) {
		this.bytes = settings.valueBytes();
	}

	byte[] of(String key, long generation) {
		byte[] filler = new byte[this.bytes - Long.BYTES];
		new SplittableRandom(fnv1a(key) ^ generation).nextBytes(filler);
		return ByteBuffer.allocate(this.bytes).putLong(generation).put(filler).array();
	}

	/**
	 * Passes a value of this key, of any generation.
	 * @throws IllegalStateException saying what else it is
	 */
	byte[] check(String key, byte[] found) {
		requireSize(found);
		return check(key, generation(found), found);
	}

	/**
	 * Passes the value of this key and generation.
	 * @throws IllegalStateException saying what else it is
	 */
	byte[] check(String key, long generation, byte[] found) {
		requireSize(found);
		if (!Arrays.equals(found, of(key, generation(found)))) {
			throw Answers.wrong("bytes that were never written for this key");
		}
		if (generation(found) != generation) {
			throw Answers.wrong("generation %d in the place of %d".formatted(generation(found), generation));
		}
		return found;
	}

	private void requireSize(byte[] found) {
		if (found.length != this.bytes) {
			throw Answers.wrong("%d bytes in the place of %d".formatted(found.length, this.bytes));
		}
	}

	private static long generation(byte[] value) {
		return ByteBuffer.wrap(value).getLong();
	}

	private static long fnv1a(String key) {
		long hash = FNV_OFFSET;
		for (byte each : key.getBytes(StandardCharsets.UTF_8)) {
			hash = (hash ^ (each & 0xff)) * FNV_PRIME;
		}
		return hash;
	}

}
