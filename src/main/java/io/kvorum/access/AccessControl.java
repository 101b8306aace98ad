package io.kvorum.access;

import java.util.List;
import java.util.Set;

import io.kvorum.clock.TimeSource;

/**
 * Admits requests by API key and takes tokens from the bucket of the key. Used by all
 * event loops; the keys are replaced as a whole.
 */
public final class AccessControl {

	/** A key without a usable secret; stands in for unknown ids. */
	private static final ApiKey NOBODY = new ApiKey("nobody", new byte[SecretHash.BYTES], Long.MAX_VALUE, List.of(),
			Set.of(), null);

	private final boolean controlled;

	private final TimeSource time;

	private volatile KeyRing ring;

	private volatile AccessState state;

	private AccessControl(boolean controlled, KeyRing ring, TimeSource time) {
		this.controlled = controlled;
		this.ring = ring;
		this.time = time;
		this.state = new AccessState(controlled, ring.size(), null, 0);
	}

	/** Permits every request. */
	public static AccessControl off(TimeSource time) {
		return new AccessControl(false, KeyRing.EMPTY, time);
	}

	/** Admits requests with one of these keys. */
	public static AccessControl by(KeyRing ring, TimeSource time) {
		return new AccessControl(true, ring, time);
	}

	/** Whether requests need an API key. */
	public boolean isControlled() {
		return this.controlled;
	}

	/**
	 * Identifies the key of a request and takes a token from its bucket.
	 * <p>
	 * The check of the secret comes first, so that a caller cannot use up the rate of
	 * another. The token is taken before the request is read, since a refusal is work
	 * too.
	 * @param authorization all headers of this name
	 * @throws DeniedException if there is no valid key, or no token
	 */
	public ApiKey admit(List<String> authorization) {
		if (!this.controlled) {
			return ApiKey.anyone();
		}
		ApiKey key = identify(authorization);
		TokenBucket bucket = key.bucket();
		if (bucket != null) {
			long wait = bucket.take(this.time.nanos());
			if (wait > 0) {
				throw DeniedException.tooFast(wait, bucket);
			}
		}
		return key;
	}

	private ApiKey identify(List<String> authorization) {
		if (authorization.isEmpty()) {
			throw DeniedException.of(Denial.MISSING);
		}
		// A proxy in front may have checked another one of several headers.
		Credentials credentials = (authorization.size() == 1) ? Credentials.parse(authorization.getFirst()) : null;
		if (credentials == null) {
			throw DeniedException.of(Denial.MALFORMED);
		}
		ApiKey found = this.ring.find(credentials.id());
		// An unknown id costs the same work: timing does not reveal which ids exist.
		ApiKey key = (found != null) ? found : NOBODY;
		if (!key.isHash(SecretHash.of(credentials.secret())) || found == null) {
			throw DeniedException.of(Denial.WRONG);
		}
		return unexpired(key);
	}

	private ApiKey unexpired(ApiKey key) {
		if (key.isExpired(this.time.millis())) {
			throw DeniedException.of(Denial.EXPIRED);
		}
		return key;
	}

	/**
	 * Checks an admitted key against the current keys; takes no token.
	 * @return the current key of the same id
	 * @throws DeniedException if the key is gone, has another secret or has expired
	 */
	public ApiKey readmit(ApiKey caller) {
		if (!this.controlled) {
			return caller;
		}
		ApiKey found = this.ring.find(caller.id());
		if (found == null || !found.hasSecretOf(caller)) {
			throw DeniedException.of(Denial.WRONG);
		}
		return unexpired(found);
	}

	/** Replaces the keys. A key keeps its remaining tokens if its rate is unchanged. */
	public void use(KeyRing next) {
		KeyRing following = next.following(this.ring);
		this.ring = following;
		this.state = new AccessState(this.controlled, following.size(), null, 0);
	}

	/** Records that newer keys cannot be used; the current ones stay. */
	public void keep(String trouble) {
		AccessState before = this.state;
		long since = (before.trouble() != null) ? before.troubleSinceNanos() : this.time.nanos();
		this.state = new AccessState(this.controlled, before.keys(), trouble, since);
	}

	public AccessState state() {
		return this.state;
	}

	/**
	 * The time since newer keys were first found unusable, in seconds; 0 if the keys in
	 * use are the newest.
	 */
	public double staleSeconds() {
		AccessState now = this.state;
		return (now.trouble() != null) ? (this.time.nanos() - now.troubleSinceNanos()) / 1e9 : 0;
	}

}
