package io.kvorum.client;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.NotEnoughReplicas;
import io.kvorum.client.KvorumException.Overloaded;
import io.kvorum.client.KvorumException.UnexpectedAnswer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Sends requests until one is answered, as long as a repeat is safe. */
final class Calls {

	private final Transport transport;

	private final Nodes nodes;

	private final RetryBudget budget = new RetryBudget(System::nanoTime);

	/** Of requests that were not needed, so that hedging leaves all repeats there. */
	private final RetryBudget hedges = new RetryBudget(System::nanoTime);

	private final Limits limits;

	Calls(Transport transport, Nodes nodes, Limits limits) {
		this.transport = transport;
		this.nodes = nodes;
		this.limits = limits;
	}

	Duration deadline() {
		return this.limits.deadline();
	}

	/** Reads; the answer has status 200, or 404 if there is no value. */
	Mono<Answer> read(Request request, ReadOptions options) {
		return Mono.defer(() -> {
			long deadline = deadlineNanos(options.deadline());
			Attempts attempts = new Attempts(true, false, this.limits.attempts(), deadline);
			Request authorized = this.transport.authorized(request);
			Duration hedgeAfter = options.hedgeAfter();
			return (hedgeAfter != null && this.nodes.size() > 1
					&& hedgeAfter.toNanos() < attempts.remainingNanos(System.nanoTime()))
							? hedged(authorized, attempts, hedgeAfter, deadline) : attempt(authorized, attempts);
		});
	}

	/** An answer, or an error that asking another node would not help. */
	private record Result(@Nullable Answer answer, @Nullable KvorumException error) {

		Mono<Answer> get() {
			KvorumException failure = this.error;
			return (failure != null) ? Mono.error(failure) : Mono.justOrEmpty(this.answer);
		}

	}

	private Mono<Answer> hedged(Request request, Attempts first, Duration after, long deadline) {
		AtomicBoolean isHedged = new AtomicBoolean();
		Mono<Answer> second = Mono.delay(after).flatMap(tick -> {
			if (!this.hedges.take()) {
				return Mono.empty();
			}
			isHedged.set(true);
			Attempts attempts = new Attempts(true, false, this.limits.attempts(), deadline);
			attempts.tried().addAll(first.asked());
			return attempt(request, attempts)
				.doOnNext(answer -> first.asked().forEach(node -> node.slow(System.nanoTime())));
		});
		return Mono.firstWithValue(result(attempt(request, first), isHedged::get), result(second, () -> true))
			.flatMap(Result::get)
			.onErrorMap(NoSuchElementException.class, Calls::firstOf)
			.doOnNext(answer -> this.hedges.answered());
	}

	/**
	 * The end of one of two requests.
	 * @param hasOther whether the other one may still have an answer where this has none
	 */
	private static Mono<Result> result(Mono<Answer> answer, BooleanSupplier hasOther) {
		return answer.map(found -> new Result(found, null))
			.onErrorResume(KvorumException.class, error -> (error.isRetryable() && hasOther.getAsBoolean())
					? Mono.error(error) : Mono.just(new Result(null, error)));
	}

	/** The error of the first request, out of what Reactor makes of those of both. */
	private static Throwable firstOf(NoSuchElementException none) {
		Throwable cause = none.getCause();
		return (cause != null) ? Exceptions.unwrapMultiple(cause).get(0) : none;
	}

	/** Writes; the answer has status 201 or 202. */
	Mono<Answer> write(Request request, WriteOptions options) {
		return Mono.defer(() -> attempt(this.transport.authorized(request), new Attempts(options.repeatsUnknown(),
				options.idempotencyKey() != null, this.limits.attempts(), deadlineNanos(options.deadline()))));
	}

	private long deadlineNanos(@Nullable Duration deadline) {
		return System.nanoTime() + ((deadline != null) ? deadline : this.limits.deadline()).toNanos();
	}

	private Mono<Answer> attempt(Request request, Attempts attempts) {
		return Mono.defer(() -> {
			Node node = this.nodes.choose(attempts.tried());
			attempts.begin(node, System.nanoTime());
			long timeout = Math.min(this.limits.attempt().toNanos(), attempts.remainingNanos(System.nanoTime()));
			return this.transport.exchange(node, request, Duration.ofNanos(Math.max(timeout, 1)))
				.map(answer -> checked(request, answer))
				.onErrorResume(KvorumException.class,
						failure -> repeat(node, failure, attempts, false).then(attempt(request, attempts)))
				.onErrorMap(error -> (error instanceof KvorumException) ? error : attempts.end(node, error));
		});
	}

	private Answer checked(Request request, Answer answer) {
		int status = answer.status();
		// A 404 without it is not of Kvorum.
		boolean isDone = request.isRead()
				? answer.header(Requests.CONSISTENCY) != null
						&& (status == 404 || (status == 200 && answer.version() != null))
				: answer.version() != null && (status == 201 || status == 202);
		if (!isDone) {
			throw ProblemReader.read(answer.node().url(), answer, request);
		}
		answer.node().answered(System.nanoTime());
		answer.node().served();
		this.budget.answered();
		return answer;
	}

	/**
	 * Completes when the next request may be sent; an error if there is none.
	 * @param isProgress whether the last request has brought something, so that the next
	 * one is no repeat of it
	 */
	private Mono<Void> repeat(Node node, KvorumException failure, Attempts attempts, boolean isProgress) {
		long now = System.nanoTime();
		note(node, failure, attempts.tried(), now);
		if (this.nodes.areKeysMoved()) {
			attempts.keysAreMoved();
		}
		boolean isFree = isProgress || failure.isOfRetired();
		if (!attempts.mayRepeat(node, failure, now) || !(isFree || this.budget.take())) {
			return Mono.error(attempts.end(failure, now));
		}
		// The least time in which the next node wants to be left alone.
		long refused = this.nodes.choose(attempts.tried()).refusesNanos(now);
		long pause = Math.max(refused,
				attempts.pauseNanos(failure, this.nodes.size(), ThreadLocalRandom.current().nextDouble()));
		if (pause >= attempts.remainingForRepeatNanos(now)) {
			return Mono.error(attempts.end(failure, now));
		}
		return (pause > 0) ? Mono.delay(Duration.ofNanos(pause)).then() : Mono.empty();
	}

	private void note(Node node, KvorumException failure, Collection<Node> tried, long now) {
		if (failure instanceof NoAnswer none) {
			if (none.isOfNode()) {
				node.failed(now);
			}
			return;
		}
		boolean isUseless = failure.isRetryable()
				&& (failure instanceof NotEnoughReplicas || failure instanceof UnexpectedAnswer);
		if (isUseless && tried.isEmpty()) {
			// It may have lost its peers, or something before it answers: as fast as that
			// is, it would be asked most. Where others say the same, it is the key.
			node.failed(now);
		}
		else {
			node.answered(now);
		}
		if (failure.isOfRetired()) {
			node.retired();
		}
		if (!failure.isRetryable()) {
			this.budget.answered();
		}
		if (failure instanceof Overloaded overloaded && overloaded.retryAfter() != null) {
			node.refuses(overloaded.retryAfter(), now);
		}
	}

	/**
	 * A stream that goes on at another node when it breaks.
	 * @param part the stream from where it has come to on, at a node, and the time in
	 * which something of it must come
	 * @param passed how many elements have come
	 */
	<T> Flux<T> stream(BiFunction<Node, Duration, ? extends Publisher<T>> part, LongSupplier passed) {
		return Flux.defer(() -> {
			Resumption resumption = new Resumption(passed);
			return Flux.defer(() -> part.apply(resumption.choose(), resumption.left()))
				.retryWhen(Retry.from(signals -> signals.concatMap(signal -> resumption.after(signal.failure()))));
		});
	}

	/** Counts attempts between two steps forward. Its time begins with a failure. */
	private final class Resumption {

		private final LongSupplier passed;

		private @Nullable Attempts attempts;

		private @Nullable Node node;

		/** The number of elements at the last failure. */
		private long passedBefore;

		private Resumption(LongSupplier passed) {
			this.passed = passed;
		}

		private Node choose() {
			Attempts now = this.attempts;
			Node chosen = Calls.this.nodes.choose((now != null) ? now.tried() : List.of());
			this.node = chosen;
			return chosen;
		}

		/** The time since the last failure that is left, or all of it. */
		private Duration left() {
			Attempts now = this.attempts;
			long left = (now != null) ? now.remainingNanos(System.nanoTime()) : deadline().toNanos();
			return Duration.ofNanos(Math.max(left, Attempts.LEAST_NANOS));
		}

		private Mono<Boolean> after(Throwable failure) {
			Node failed = this.node;
			if (failed == null || !(failure instanceof KvorumException known)) {
				return Mono.error(failure);
			}
			Attempts now = this.attempts;
			boolean isProgress = this.passed.getAsLong() > this.passedBefore;
			if (now == null || isProgress) {
				now = new Attempts(true, false, Calls.this.limits.attempts(), deadlineNanos(null));
			}
			this.passedBefore = this.passed.getAsLong();
			this.attempts = now;
			return repeat(failed, known, now, isProgress).thenReturn(true);
		}

	}

}
