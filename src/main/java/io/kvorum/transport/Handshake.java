package io.kvorum.transport;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import io.kvorum.clock.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * Mutual proof that two nodes know the secret, without sending it. The calling node asks
 * for a challenge. It opens a stream with that challenge, a nonce of its own and a proof.
 * The response carries the proof of the called node:
 *
 * <pre>
 * proof = HMAC-SHA256(secret, side, challenge, nonce, from, to, lane, topology)
 * </pre>
 *
 * A proof is valid for one stream between these two nodes. A recorded one is useless
 * later or elsewhere. The calling node proves first. A client that only connects gets
 * nothing to test secrets against.
 * <p>
 * The node authenticates a challenge instead of keeping it, so unauthenticated clients
 * use no memory. Only proven challenges are kept, until they expire. Used by all event
 * loops.
 */
final class Handshake {

	/** Longest time from a challenge to its proof. */
	static final Duration LIFETIME = Duration.ofSeconds(10);

	/** The end that proves; or the purpose of an HMAC that proves nothing. */
	enum Side {

		CALLER, CALLED, CHALLENGE, NONCE

	}

	private static final String ALGORITHM = "HmacSHA256";

	/** Length of the tag in a challenge and in a nonce: 128 bits of an HMAC. */
	private static final int TAG_BYTES = 16;

	private static final int STAMP_BYTES = 2 * Long.BYTES;

	private static final Pattern FORM = Pattern.compile("[0-9a-f]{%d}".formatted(2 * (STAMP_BYTES + TAG_BYTES)));

	private static final HexFormat HEX = HexFormat.of();

	private final @Nullable SecretKeySpec secret;

	/** Random key of this process. */
	private final SecretKeySpec own;

	private final TimeSource time;

	private final AtomicLong counter = new AtomicLong();

	/** Proven challenges, with the time at which they were issued. */
	private final ConcurrentHashMap<String, Long> proven = new ConcurrentHashMap<>();

	/**
	 * Creates a handshake.
	 * @param secret null if any node is let in
	 * @param random unpredictable numbers; used by this constructor only
	 */
	Handshake(@Nullable String secret, LongSupplier random, TimeSource time) {
		this.secret = (secret != null) ? key(secret.getBytes(StandardCharsets.UTF_8)) : null;
		ByteBuffer seed = ByteBuffer.allocate(4 * Long.BYTES);
		while (seed.hasRemaining()) {
			seed.putLong(random.getAsLong());
		}
		this.own = key(seed.array());
		this.time = time;
	}

	private static SecretKeySpec key(byte[] bytes) {
		return new SecretKeySpec(bytes, ALGORITHM);
	}

	/** Whether there is a secret to prove. */
	boolean isNeeded() {
		return this.secret != null;
	}

	/** Issues a challenge to any client. */
	String challenge() {
		byte[] stamp = ByteBuffer.allocate(STAMP_BYTES)
			.putLong(this.time.nanos())
			.putLong(this.counter.incrementAndGet())
			.array();
		return HEX.formatHex(stamp) + tag(Side.CHALLENGE, stamp);
	}

	/** A value that this node has never sent before. */
	String nonce() {
		return tag(Side.NONCE, ByteBuffer.allocate(Long.BYTES).putLong(this.counter.incrementAndGet()).array());
	}

	private String tag(Side side, byte[] stamp) {
		return HEX.formatHex(Arrays.copyOf(hmac(this.own, side.name() + HEX.formatHex(stamp)), TAG_BYTES));
	}

	/**
	 * The proof of one side: to send it, or to compare it with the other node's. Called
	 * only if {@link #isNeeded()}.
	 */
	String proof(Side side, Opening opening) {
		SecretKeySpec key = this.secret;
		if (key == null) {
			throw new IllegalStateException("there is no secret to prove");
		}
		return HEX.formatHex(hmac(key, side + "\n" + opening.toText()));
	}

	/** Whether the other node has proven the secret. Compares in constant time. */
	boolean isProof(@Nullable String proof, Side side, Opening opening) {
		return isEqual(proof(side, opening), String.valueOf(proof));
	}

	/**
	 * Whether a challenge is of this node, not expired and not used before. Marks it as
	 * used.
	 */
	boolean accept(String challenge) {
		if (!isOwn(challenge)) {
			return false;
		}
		long given = givenNanos(challenge);
		boolean isFirst = this.proven.putIfAbsent(challenge, given) == null;
		// The clock is read last: if another loop has just removed this challenge, it has
		// expired by now.
		long now = this.time.nanos();
		this.proven.values().removeIf(known -> now - known > LIFETIME.toNanos());
		return isFirst && now - given <= LIFETIME.toNanos();
	}

	/** Whether a text has the form of a challenge. */
	static boolean isChallenge(String text) {
		return FORM.matcher(text).matches();
	}

	private boolean isOwn(String challenge) {
		if (!isChallenge(challenge)) {
			return false;
		}
		byte[] stamp = HEX.parseHex(challenge, 0, 2 * STAMP_BYTES);
		return isEqual(tag(Side.CHALLENGE, stamp), challenge.substring(2 * STAMP_BYTES));
	}

	private static long givenNanos(String challenge) {
		return ByteBuffer.wrap(HEX.parseHex(challenge, 0, 2 * STAMP_BYTES)).getLong();
	}

	private static boolean isEqual(String one, String other) {
		return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
	}

	/** The SHA-256 of a text. */
	static String hashOf(String text) {
		try {
			return HEX.formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("every JDK has SHA-256", ex);
		}
	}

	private static byte[] hmac(SecretKeySpec key, String text) {
		try {
			Mac mac = Mac.getInstance(ALGORITHM);
			mac.init(key);
			return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("every JDK has " + ALGORITHM, ex);
		}
	}

	/**
	 * The stream to be opened, or the text that is sent instead, by its hash in the place
	 * of the topology: the subject of a proof. Its texts come from headers, so none
	 * contains a line break.
	 */
	record Opening(String challenge, String nonce, String from, String to, String lane, String topology) {

		/** The same, about a text that is sent, given its hash. */
		Opening about(String hash) {
			return new Opening(this.challenge, this.nonce, this.from, this.to, this.lane, hash);
		}

		String toText() {
			return String.join("\n", this.challenge, this.nonce, this.from, this.to, this.lane, this.topology);
		}

	}

}
