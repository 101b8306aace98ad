package io.kvorum.testing;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Lineage.Ancestor;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;

/** Makes keys, values and entries at random; the same ones for the same seed. */
public final class Generator {

	private static final List<String> TYPES = List.of("application/octet-stream", "text/plain; charset=utf-8", "x",
			"a".repeat(Entry.MAX_CONTENT_TYPE_BYTES), "text/\u00e9\u00ff");

	private final RandomGenerator random;

	public Generator(long seed) {
		this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
	}

	/** From 0 up to and without {@code bound}. */
	public int below(int bound) {
		return this.random.nextInt(bound);
	}

	public long anyLong() {
		return this.random.nextLong();
	}

	/** Whether something happens that does so {@code percent} times of a hundred. */
	public boolean chance(int percent) {
		return below(100) < percent;
	}

	public byte[] bytes(int length) {
		byte[] bytes = new byte[length];
		this.random.nextBytes(bytes);
		return bytes;
	}

	public <T> T oneOf(List<T> choices) {
		return choices.get(below(choices.size()));
	}

	/** Any bytes; mostly few. */
	public Key key() {
		return Key.of(bytes(1 + below(chance(90) ? 20 : Key.MAX_LENGTH_BYTES)));
	}

	/** Any version at all. */
	public Version version() {
		return new Version(anyLong(), anyLong());
	}

	/** One of few versions, so that they meet: equal times of several nodes too. */
	public Version closeVersion() {
		return new Version(1 + below(20), 1 + below(3));
	}

	/**
	 * Any entry of this version. The same bytes for the same version is up to callers.
	 */
	public Entry entry(Version version) {
		Copies copies = Copies.ofByte((byte) below(1 + Entry.MAX_COPIES));
		if (chance(20)) {
			return new Tombstone(version, copies);
		}
		long expiresAt = chance(50) ? Live.NEVER : anyLong();
		return new Live(version, copies, expiresAt, oneOf(TYPES), Value.of(bytes(chance(10) ? 0 : below(300))));
	}

	/** Any lineage. */
	public Lineage lineage() {
		List<Ancestor> ancestors = new ArrayList<>();
		for (int i = 1 + below(Lineage.MAX_ANCESTORS); i > 0; i--) {
			Version version = version();
			ancestors.add(new Ancestor(version, chance(50) ? version : version()));
		}
		return new Lineage(version(), chance(50), chance(50), ancestors);
	}

	/** The key with this name. */
	public static Key key(String name) {
		return Key.of(name.getBytes(StandardCharsets.UTF_8));
	}

	/** An entry that was stored under a ballot: the version. */
	public Entry entryUnderBallot(Version ballot) {
		return entry(ballot).under(ballot, lineage());
	}

	/** A value without an end, of one copy. */
	public static Live live(Version version, String text) {
		return live(version, text, Live.NEVER);
	}

	/** A value that expires, of one copy. */
	public static Live live(Version version, String text, long expiresAtMillis) {
		return new Live(version, 1, expiresAtMillis, "text/plain", Value.of(text.getBytes(StandardCharsets.UTF_8)));
	}

}
