package io.kvorum.replication;

import org.slf4j.Logger;
import reactor.core.publisher.Mono;

/**
 * Logs why retried work fails: each reason once, until the work succeeds or fails for
 * another reason.
 * <p>
 * Kvorum's own exceptions are operating errors, whose message says all. Any other
 * exception is a bug, and is logged as an error with its stack trace.
 * <p>
 * For one thread at a time.
 */
public final class FailureLog {

	private static final String OWN = "io.kvorum.";

	private final Logger logger;

	private final String message;

	private String last = "";

	/**
	 * A log that is still empty.
	 * @param message what fails, with {@code {}} for the reason
	 */
	public FailureLog(Logger logger, String message) {
		this.logger = logger;
		this.message = message;
	}

	/** Runs the work; logs a failure and completes. */
	public Mono<Void> tell(Mono<Void> work) {
		return work.doOnSuccess(_ -> succeeded()).onErrorResume(error -> Mono.fromRunnable(() -> failed(error)));
	}

	public void succeeded() {
		this.last = "";
	}

	/**
	 * Logs a failure, unless the last one had the same reason.
	 * @return the reason
	 */
	public String failed(Throwable error) {
		boolean isExpected = error.getClass().getName().startsWith(OWN);
		String why = isExpected ? String.valueOf(error.getMessage()) : error.toString();
		if (!why.equals(this.last)) {
			this.last = why;
			if (isExpected) {
				this.logger.warn(this.message, why);
			}
			else {
				this.logger.error(this.message, why, error);
			}
		}
		return why;
	}

}
