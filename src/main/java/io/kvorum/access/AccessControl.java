package io.kvorum.access;

import java.util.List;
import java.util.Set;

import io.kvorum.clock.TimeSource;

/**
 * Finds out who asks, and whether they may just now. Used by all event loops; the keys
 * are replaced as a whole.
 */
public final class AccessControl {

	/** Somebody whose secret nobody has: stands in for ids that there are not. */
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

	/** Lets in those who have one of these keys. */
	public static AccessControl by(KeyRing ring, TimeSource time) {
		return new AccessControl(true, ring, time);
	}

	/** Whether requests need an API key. */
	public boolean isControlled() {
		return this.controlled;
	}

	/**
	 * Who asks; takes a token of its rate.
	 * <p>
	 * Only after the secret was found right: nobody uses up the rate of somebody else.
	 * Before it is known what is asked for: to refuse that is work, too.
	 * @param authorization all headers of this name
	 * @throws DeniedException if it is not known who asks, or they come too fast
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
		// Of several a proxy in front may have looked at another one.
		Credentials credentials = (authorization.size() == 1) ? Credentials.parse(authorization.getFirst()) : null;
		if (credentials == null) {
			throw DeniedException.of(Denial.MALFORMED);
		}
		ApiKey found = this.ring.find(credentials.id());
		// The same work for an id that is not there: time does not tell which there are.
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
	 * Who was let in before, by the keys of now; takes no token.
	 * @throws DeniedException if their key is gone or has expired
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

	/** From now on these keys are good, and no others. */
	public void use(KeyRing next) {
		KeyRing following = next.following(this.ring);
		this.ring = following;
		this.state = new AccessState(this.controlled, following.size(), null, 0);
	}

	/** There may be newer keys, which cannot be used: those of before stay. */
	public void keep(String trouble) {
		AccessState before = this.state;
		long since = (before.trouble() != null) ? before.troubleSinceNanos() : this.time.nanos();
		this.state = new AccessState(this.controlled, before.keys(), trouble, since);
	}

	public AccessState state() {
		return this.state;
	}

	/** How long newer keys may have waited to be used, in seconds; 0 where none do. */
	public double staleSeconds() {
		AccessState now = this.state;
		return (now.trouble() != null) ? (this.time.nanos() - now.troubleSinceNanos()) / 1e9 : 0;
	}

}
