package io.kvorum.access;

import java.security.MessageDigest;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import org.jspecify.annotations.Nullable;

/**
 * An API key and its rights, which are the union of its rules.
 */
public final class ApiKey {

	/** The caller when access is not controlled. */
	private static final ApiKey ANYONE = new ApiKey("anyone", new byte[0], Long.MAX_VALUE,
			List.of(new Rule(Prefix.NONE, EnumSet.allOf(Right.class))), EnumSet.allOf(EndpointRight.class), null);

	private final String id;

	private final byte[] hash;

	private final long expiresAtMillis;

	private final List<Rule> rules;

	private final Set<EndpointRight> endpoints;

	private final @Nullable TokenBucket bucket;

	/**
	 * Creates a key.
	 * @param hash SHA-256 of its secret
	 * @param expiresAtMillis the instant from which on it is not valid, in milliseconds
	 * since 1970
	 * @param bucket null if its rate is unlimited
	 */
	ApiKey(String id, byte[] hash, long expiresAtMillis, List<Rule> rules, Set<EndpointRight> endpoints,
			@Nullable TokenBucket bucket) {
		this.id = id;
		this.hash = hash;
		this.expiresAtMillis = expiresAtMillis;
		this.rules = List.copyOf(rules);
		this.endpoints = endpoints;
		this.bucket = bucket;
	}

	public static ApiKey anyone() {
		return ANYONE;
	}

	/** The name of the key, which is no secret. */
	public String id() {
		return this.id;
	}

	/** Compares in constant time. */
	boolean isHash(byte[] other) {
		return MessageDigest.isEqual(this.hash, other);
	}

	boolean hasSecretOf(ApiKey other) {
		return isHash(other.hash);
	}

	boolean isExpired(long nowMillis) {
		return nowMillis >= this.expiresAtMillis;
	}

	/** Whether the key has this right to this entity. */
	boolean may(Right right, Key key) {
		for (Rule rule : this.rules) {
			if (rule.rights().contains(right) && rule.prefix().covers(key.bytes())) {
				return true;
			}
		}
		return false;
	}

	/** Whether the whole range lies inside one prefix that the key may list. */
	boolean mayList(KeyRange range) {
		for (Rule rule : this.rules) {
			if (rule.rights().contains(Right.RANGE) && rule.prefix().covers(range)) {
				return true;
			}
		}
		return false;
	}

	boolean may(EndpointRight right) {
		return this.endpoints.contains(right);
	}

	/**
	 * Requires a right to an entity.
	 * @throws DeniedException if the key does not have it
	 */
	public void require(Right right, Key key) {
		if (!may(right, key)) {
			throw DeniedException.of(Denial.ENTITY);
		}
	}

	/**
	 * Requires the right to read the range.
	 * @throws DeniedException if the key does not have it
	 */
	public void requireRange(KeyRange range) {
		if (!mayList(range)) {
			throw DeniedException.of(Denial.RANGE);
		}
	}

	/**
	 * Requires a right to the management endpoints.
	 * @throws DeniedException if the key does not have it
	 */
	public void require(EndpointRight right) {
		if (!may(right)) {
			throw DeniedException.of(Denial.ENDPOINT);
		}
	}

	/** The bucket that limits the rate; null if the rate is unlimited. */
	public @Nullable TokenBucket bucket() {
		return this.bucket;
	}

	/**
	 * This key with the bucket of the other, if both have the same rate. So a reload of
	 * the file fills no bucket.
	 */
	ApiKey following(@Nullable ApiKey other) {
		TokenBucket old = (other != null) ? other.bucket : null;
		boolean same = old != null && this.bucket != null && old.rate().equals(this.bucket.rate());
		return same ? new ApiKey(this.id, this.hash, this.expiresAtMillis, this.rules, this.endpoints, old) : this;
	}

	@Override
	public String toString() {
		return "ApiKey[" + this.id + "]";
	}

}
