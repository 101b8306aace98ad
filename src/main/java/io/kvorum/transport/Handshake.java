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
 * By which two nodes show each other that they know the secret, without sending it. The
 * node that calls asks for a challenge, and opens a stream with that, a nonce of its own
 * and a proof; the answer has a proof of the other one:
 *
 * <pre>
 * proof = HMAC-SHA256(secret, side, challenge, nonce, from, to, lane, topology)
 * </pre>
 *
 * A proof is good for one stream between these two nodes: what somebody has recorded is
 * of no use later or elsewhere. The node that calls proves first, so that who only
 * connects gets nothing to try secrets on.
 * <p>
 * A challenge is not kept but authenticated by its giver, so that strangers fill nothing;
 * only those that were proven are, until they are too old. Used by all event loops.
 */
final class Handshake {

	/** From a challenge to its proof. */
	static final Duration LIFETIME = Duration.ofSeconds(10);

	/** Who proves; or what is no proof of anybody. */
	enum Side {

		CALLER, CALLED, CHALLENGE, NONCE

	}

	private static final String ALGORITHM = "HmacSHA256";

	/** Of a challenge and of a nonce: 128 bits of an HMAC. */
	private static final int TAG_BYTES = 16;

	private static final int STAMP_BYTES = 2 * Long.BYTES;

	private static final Pattern FORM = Pattern.compile("[0-9a-f]{%d}".formatted(2 * (STAMP_BYTES + TAG_BYTES)));

	private static final HexFormat HEX = HexFormat.of();

	private final @Nullable SecretKeySpec secret;

	/** Random, and of this process only. */
	private final SecretKeySpec own;

	private final TimeSource time;

	private final AtomicLong counter = new AtomicLong();

	/** Challenges that were proven, and when they were given. */
	private final ConcurrentHashMap<String, Long> proven = new ConcurrentHashMap<>();

	/**
	 * A handshake.
	 * @param secret null where everybody is let in
	 * @param random unpredictable numbers; asked here only
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

	/** Whether there is a secret to be shown. */
	boolean isNeeded() {
		return this.secret != null;
	}

	/** A challenge for whoever asks. */
	String challenge() {
		byte[] stamp = ByteBuffer.allocate(STAMP_BYTES)
			.putLong(this.time.nanos())
			.putLong(this.counter.incrementAndGet())
			.array();
		return HEX.formatHex(stamp) + tag(Side.CHALLENGE, stamp);
	}

	/** Something that this node has never said before. */
	String nonce() {
		return tag(Side.NONCE, ByteBuffer.allocate(Long.BYTES).putLong(this.counter.incrementAndGet()).array());
	}

	private String tag(Side side, byte[] stamp) {
		return HEX.formatHex(Arrays.copyOf(hmac(this.own, side.name() + HEX.formatHex(stamp)), TAG_BYTES));
	}

	/** That this node knows the secret. Only where {@link #isNeeded()}. */
	String proof(Side side, Opening opening) {
		SecretKeySpec key = this.secret;
		if (key == null) {
			throw new IllegalStateException("there is no secret to prove");
		}
		return HEX.formatHex(hmac(key, side + "\n" + opening.toText()));
	}

	/** Whether the other one knows the secret. Takes the same time whatever was sent. */
	boolean isProof(@Nullable String proof, Side side, Opening opening) {
		return isEqual(proof(side, opening), String.valueOf(proof));
	}

	/**
	 * Whether a challenge whose proof is right is from here, not too old, and proven for
	 * the first time.
	 */
	boolean accept(String challenge) {
		if (!isOwn(challenge)) {
			return false;
		}
		long given = givenNanos(challenge);
		boolean isFirst = this.proven.putIfAbsent(challenge, given) == null;
		// In this order: one that another loop has just forgotten is too old by now.
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
	 * A stream that somebody wants to open: what a proof is for. None of its texts has an
	 * end of a line in it, as headers have not.
	 */
	record Opening(String challenge, String nonce, String from, String to, String lane, String topology) {

		String toText() {
			return String.join("\n", this.challenge, this.nonce, this.from, this.to, this.lane, this.topology);
		}

	}

}
