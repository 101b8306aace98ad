package io.kvorum.operation;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import io.kvorum.operation.Condition.Tags;
import org.jspecify.annotations.Nullable;

/**
 * Tells a repeat of a write from another write: the first 128 bits of the SHA-256 of all
 * that a client can say of it.
 */
public record RequestDigest(long high, long low) {

	public static RequestDigest ofPut(Key key, WriteOptions options, String contentType, Value value,
			@Nullable Ttl ttl) {
		MessageDigest digest = begin(Operation.PUT, key, options);
		add(digest, contentType);
		add(digest, String.valueOf(ttl));
		digest.update(value.array(), value.offset(), value.length());
		return end(digest);
	}

	public static RequestDigest ofDelete(Key key, WriteOptions options) {
		return end(begin(Operation.DELETE, key, options));
	}

	private static MessageDigest begin(Operation operation, Key key, WriteOptions options) {
		MessageDigest digest = sha256();
		add(digest, operation.name());
		add(digest, key.bytes());
		add(digest, nameOf(options.replicas()));
		Condition condition = options.condition();
		add(digest, condition.match());
		add(digest, condition.noneMatch());
		return digest;
	}

	/** The default has other numbers once the nodes or the factor have changed. */
	private static String nameOf(Replicas replicas) {
		return (replicas.copies() != Copies.DEFAULT) ? replicas.toString()
				: replicas.relaxed() ? "default eventual" : "default";
	}

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every Java platform has SHA-256", ex);
		}
	}

	/** Adds the tags in their order, which a set does not keep. */
	private static void add(MessageDigest digest, @Nullable Tags tags) {
		add(digest, (tags != null) ? tags.any() + " " + tags.versions().stream().sorted().toList() : "");
	}

	private static void add(MessageDigest digest, String text) {
		add(digest, text.getBytes(StandardCharsets.UTF_8));
	}

	/** Adds the length too, so that fields cannot run into each other. */
	private static void add(MessageDigest digest, byte[] field) {
		digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, field.length));
		digest.update(field);
	}

	private static RequestDigest end(MessageDigest digest) {
		ByteBuffer bytes = ByteBuffer.wrap(digest.digest());
		return new RequestDigest(bytes.getLong(), bytes.getLong());
	}

}
