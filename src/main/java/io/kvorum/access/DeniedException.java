package io.kvorum.access;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Denial of a request. It has no stack trace, and a single instance for each reason
 * except the rate, since an attacker may cause thousands.
 */
public final class DeniedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private static final Map<Denial, DeniedException> ALL = new EnumMap<>(Denial.class);

	static {
		for (Denial denial : Denial.values()) {
			ALL.put(denial, new DeniedException(denial, 0, null));
		}
	}

	private final Denial denial;

	private final long waitNanos;

	private final transient @Nullable TokenBucket emptied;

	private DeniedException(Denial denial, long waitNanos, @Nullable TokenBucket emptied) {
		super("denied: " + denial, null, false, false);
		this.denial = denial;
		this.waitNanos = waitNanos;
		this.emptied = emptied;
	}

	static DeniedException of(Denial denial) {
		return Objects.requireNonNull(ALL.get(denial));
	}

	/** The denial of a key that has used up its rate, with the wait before a retry. */
	static DeniedException tooFast(long waitNanos, TokenBucket emptied) {
		return new DeniedException(Denial.RATE, waitNanos, emptied);
	}

	public Denial denial() {
		return this.denial;
	}

	/** The wait before a retry, in nanoseconds; 0 if waiting does not help. */
	public long waitNanos() {
		return this.waitNanos;
	}

	/** The bucket that is empty; null if the rate is not the reason. */
	public @Nullable TokenBucket emptied() {
		return this.emptied;
	}

}
