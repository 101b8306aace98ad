package io.kvorum.client;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * An operation that was not done, after all repeats that are safe. {@link #outcome()}
 * says whether a write may have happened all the same.
 */
public abstract sealed class KvorumException extends RuntimeException {

	private final transient @Nullable Problem problem;

	private final Outcome outcome;

	private final boolean retryable;

	private final URI node;

	private KvorumException(Problem problem, URI node) {
		super("%s: %s (%d %s, %s)".formatted(node, problem.detail(), problem.status(), problem.name(),
				(problem.outcome() == Outcome.UNKNOWN) ? "it may have happened" : "nothing was done"));
		this.problem = problem;
		this.outcome = problem.outcome();
		this.retryable = problem.isRetryable();
		this.node = node;
	}

	private KvorumException(String message, Outcome outcome, URI node, @Nullable Throwable cause) {
		super(message, cause);
		this.problem = null;
		this.outcome = outcome;
		this.retryable = true;
		this.node = node;
	}

	/**
	 * Whether the operation did something. Of a read it is always
	 * {@link Outcome#NOT_APPLIED}.
	 * @return the outcome of all requests of the operation together
	 */
	public Outcome outcome() {
		return this.outcome;
	}

	/**
	 * Whether it makes sense to try the same again, later. A write whose
	 * {@link #outcome()} is {@link Outcome#UNKNOWN} may then undo what others have
	 * written since: see {@link #isSafeToRepeat()}.
	 * @return false if the request itself, or what is stored, has to change first
	 */
	public boolean isRetryable() {
		return this.retryable;
	}

	/**
	 * Whether the same can be tried again, later, and nothing was done so far: the
	 * condition for {@code retryWhen}. A write that may have happened is safe to repeat
	 * only with the same {@link WriteOptions#idempotencyKey(String)}.
	 * @return whether it is retryable and {@link Outcome#NOT_APPLIED}
	 */
	public boolean isSafeToRepeat() {
		return this.retryable && this.outcome == Outcome.NOT_APPLIED;
	}

	/**
	 * What the node says.
	 * @return null if no node has answered
	 */
	public @Nullable Problem problem() {
		return this.problem;
	}

	/**
	 * The node that was asked last.
	 * @return its URL
	 */
	public URI node() {
		return this.node;
	}

	/** This, if the operation may have happened by an earlier request. */
	abstract KvorumException unknown();

	/**
	 * The request cannot be done as it is, by a bug of the caller or a setting of the
	 * node.
	 */
	public static final class InvalidRequest extends KvorumException {

		InvalidRequest(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new InvalidRequest(told().unknown(), node());
		}

	}

	/** The API key is missing, wrong or expired, or has no such right. */
	public static final class AccessDenied extends KvorumException {

		AccessDenied(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new AccessDenied(told().unknown(), node());
		}

	}

	/** The value is not the one that the condition asks for. */
	public static final class ConditionNotMet extends KvorumException {

		ConditionNotMet(Problem problem, URI node) {
			super(problem, node);
		}

		/** Whether a failure is this, and says that the write did not happen. */
		static boolean isCertain(Throwable failure) {
			return failure instanceof ConditionNotMet ex && ex.outcome() == Outcome.NOT_APPLIED;
		}

		/**
		 * The value that is there.
		 * @return null if there is none
		 */
		public @Nullable Version current() {
			return told().current();
		}

		/** The end of an update that has met the values of others until its deadline. */
		Contention contention() {
			Problem told = told();
			return new Contention(new Problem("contention", told.status(),
					"other writes of the key came in between until the deadline", told.outcome(), true, told.current(),
					0, 0, List.of()), node());
		}

		@Override
		KvorumException unknown() {
			return new ConditionNotMet(told().unknown(), node());
		}

	}

	/** The value has more bytes than the nodes take. */
	public static final class ValueTooLarge extends KvorumException {

		ValueTooLarge(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new ValueTooLarge(told().unknown(), node());
		}

	}

	/** The idempotency key was used for another write. */
	public static final class IdempotencyKeyReused extends KvorumException {

		IdempotencyKeyReused(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new IdempotencyKeyReused(told().unknown(), node());
		}

	}

	/** Another request with the same idempotency key is still under way. */
	public static final class RequestUnderWay extends KvorumException {

		RequestUnderWay(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new RequestUnderWay(told().unknown(), node());
		}

	}

	/**
	 * The node takes no request now: a limit of it or of the API key is reached, or its
	 * keys have moved to other nodes.
	 */
	public static final class Overloaded extends KvorumException {

		private final @Nullable Duration retryAfter;

		Overloaded(Problem problem, URI node, @Nullable Duration retryAfter) {
			super(problem, node);
			this.retryAfter = retryAfter;
		}

		/**
		 * The time after which the node may be asked again.
		 * @return null if it did not say
		 */
		public @Nullable Duration retryAfter() {
			return this.retryAfter;
		}

		@Override
		KvorumException unknown() {
			return new Overloaded(told().unknown(), node(), this.retryAfter);
		}

	}

	/**
	 * Other writes of the key came in between, again and again: those of a conditional
	 * write, or of an update.
	 */
	public static final class Contention extends KvorumException {

		Contention(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new Contention(told().unknown(), node());
		}

	}

	/** Too few replicas of the key have answered. */
	public static final class NotEnoughReplicas extends KvorumException {

		NotEnoughReplicas(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new NotEnoughReplicas(told().unknown(), node());
		}

	}

	/** The disk of the node is full. */
	public static final class NoSpace extends KvorumException {

		NoSpace(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new NoSpace(told().unknown(), node());
		}

	}

	/**
	 * An error of the node, or an answer that is none of Kvorum: of a proxy for instance.
	 */
	public static final class UnexpectedAnswer extends KvorumException {

		UnexpectedAnswer(Problem problem, URI node) {
			super(problem, node);
		}

		@Override
		KvorumException unknown() {
			return new UnexpectedAnswer(told().unknown(), node());
		}

	}

	/**
	 * No node has answered: connections were refused or broke, or the time was over.
	 */
	public static final class NoAnswer extends KvorumException {

		/** Whether the node is to blame, and not this client. */
		private final boolean isOfNode;

		NoAnswer(String message, Outcome outcome, URI node, @Nullable Throwable cause, boolean isOfNode) {
			super(message, outcome, node, cause);
			this.isOfNode = isOfNode;
		}

		boolean isOfNode() {
			return this.isOfNode;
		}

		@Override
		KvorumException unknown() {
			return (outcome() == Outcome.UNKNOWN) ? this
					: new NoAnswer(getMessage() + "; an earlier request may have happened", Outcome.UNKNOWN, node(),
							getCause(), this.isOfNode);
		}

	}

	/** Whether the node has left its keys to others, which are to be asked. */
	boolean isOfRetired() {
		Problem said = this.problem;
		return said != null && said.name().equals(Problem.RETIRED);
	}

	Problem told() {
		return Objects.requireNonNull(this.problem);
	}

}
