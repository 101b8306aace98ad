package io.kvorum.testing;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * What clients were told about their keys, and so what may be found later: the newest
 * acknowledged write, or the one that got no clear answer after it. A key has one writer,
 * so there is at most one such write.
 * <p>
 * A write is a number: the value of key and number is made again when it is needed, and
 * {@link #ABSENT} is a delete.
 */
public final class Ledger {

	public static final int ABSENT = 0;

	private static final int MAX_VALUE_BYTES = 2_000;

	private final Map<String, Fate> fates = new ConcurrentHashMap<>();

	/** Sends one write and notes what came of it; false where it got no clear answer. */
	public boolean write(KvorumClient client, String key, int number) {
		Fate before = this.fates.getOrDefault(key, new Fate(ABSENT, ABSENT));
		this.fates.put(key, new Fate(before.certain(), number));
		Answer answer = (number == ABSENT) ? client.delete(key) : client.put(key, value(key, number));
		if (answer.status() == ((number == ABSENT) ? 202 : 201)) {
			this.fates.put(key, new Fate(number, number));
			return true;
		}
		boolean isUnknown = answer.status() == 504 && "unknown".equals(answer.json().get("outcome"));
		boolean isRefused = answer.status() == 503 || answer.status() == 507;
		if (!isUnknown && !isRefused) {
			throw new AssertionError("A write of " + key + " got " + answer);
		}
		if (isRefused && !"unknown".equals(answer.json().get("outcome"))) {
			this.fates.put(key, before);
		}
		return false;
	}

	/**
	 * Reads the key, which has to be as it may be; what was found is certain from then
	 * on, since reads never go back.
	 */
	public void check(KvorumClient client, String key) {
		check(key, client.get(key));
	}

	/** The same, of an answer that is there. */
	public void check(String key, Answer answer) {
		Fate fate = this.fates.getOrDefault(key, new Fate(ABSENT, ABSENT));
		if (fate.allows(key, fate.certain(), answer)) {
			this.fates.put(key, new Fate(fate.certain(), fate.certain()));
		}
		else if (fate.allows(key, fate.possible(), answer)) {
			this.fates.put(key, new Fate(fate.possible(), fate.possible()));
		}
		else {
			throw new AssertionError("Key " + key + " should be as " + fate + " says; found " + answer);
		}
	}

	public Set<String> keys() {
		return this.fates.keySet();
	}

	/**
	 * How many keys have an acknowledged value that no write of unknown outcome may have
	 * replaced.
	 */
	public long stored() {
		return count((certain, possible) -> certain != ABSENT && certain.equals(possible));
	}

	/** How many keys have a write of unknown outcome. */
	public long unknown() {
		return count((certain, possible) -> !certain.equals(possible));
	}

	private long count(BiFunction<Integer, Integer, Boolean> condition) {
		return this.fates.values().stream().filter((fate) -> condition.apply(fate.certain(), fate.possible())).count();
	}

	static byte[] value(String key, int number) {
		Random random = new Random(31L * key.hashCode() + number);
		byte[] value = new byte[random.nextInt(MAX_VALUE_BYTES)];
		random.nextBytes(value);
		return value;
	}

	private record Fate(int certain, int possible) {

		boolean allows(String key, int number, Answer answer) {
			return (number == ABSENT) ? answer.status() == 404
					: answer.status() == 200 && Arrays.equals(answer.body(), value(key, number));
		}

	}

}
