package io.kvorum.client;

import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.Overloaded;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Sends requests until one is answered, as long as a repeat is safe. */
final class Calls {

	/** Each answer about a value has it; a 404 without it is not of Kvorum. */
	private static final String LEVEL = "Kvorum-Consistency";

	private final Transport transport;

	private final Nodes nodes;

	private final RetryBudget budget = new RetryBudget();

	private final Limits limits;

	/**
	 * Limits of operations.
	 *
	 * @param deadline of an operation with all its repeats
	 * @param attempt the time limit of one request
	 * @param attempts the most requests of an operation
	 */
	record Limits(Duration deadline, Duration attempt, int attempts) {
	}

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
			Duration hedgeAfter = options.hedgeAfter();
			return (hedgeAfter != null && this.nodes.size() > 1) ? hedged(request, attempts, hedgeAfter, deadline)
					: attempt(request, attempts);
		});
	}

	private Mono<Answer> hedged(Request request, Attempts first, Duration after, long deadline) {
		Mono<Answer> second = Mono.delay(after).flatMap(tick -> {
			if (!this.budget.take()) {
				return Mono.never();
			}
			Attempts attempts = new Attempts(true, false, this.limits.attempts(), deadline);
			attempts.tried().addAll(first.asked());
			return attempt(request, attempts);
		});
		return Mono.firstWithValue(attempt(request, first), second)
			.onErrorMap(NoSuchElementException.class, Calls::firstOf);
	}

	private static Throwable firstOf(NoSuchElementException none) {
		Throwable cause = none.getCause();
		return (cause != null) ? Exceptions.unwrapMultiple(cause).get(0) : none;
	}

	/** Writes; the answer has status 201 or 202. */
	Mono<Answer> write(Request request, WriteOptions options) {
		return Mono.defer(() -> attempt(request, new Attempts(options.repeatsUnknown(),
				options.idempotencyKey() != null, this.limits.attempts(), deadlineNanos(options.deadline()))));
	}

	private long deadlineNanos(@Nullable Duration deadline) {
		return System.nanoTime() + ((deadline != null) ? deadline : this.limits.deadline()).toNanos();
	}

	private Mono<Answer> attempt(Request request, Attempts attempts) {
		return Mono.defer(() -> {
			Node node = this.nodes.choose(attempts.tried());
			attempts.begin(node);
			long timeout = Math.min(this.limits.attempt().toNanos(), attempts.remainingNanos(System.nanoTime()));
			return this.transport.exchange(node, request, Duration.ofNanos(Math.max(timeout, 1)))
				.map(answer -> checked(request, answer))
				.onErrorResume(KvorumException.class,
						failure -> repeat(node, failure, attempts).then(attempt(request, attempts)));
		});
	}

	private Answer checked(Request request, Answer answer) {
		int status = answer.status();
		boolean isDone = request.isRead()
				? answer.header(LEVEL) != null && (status == 404 || (status == 200 && answer.version() != null))
				: answer.version() != null && (status == 201 || status == 202);
		if (!isDone) {
			throw ProblemReader.read(answer.node().url(), answer, request.isRead());
		}
		answer.node().answered();
		this.budget.succeeded();
		return answer;
	}

	/** Completes when the next request may be sent; an error if there is none. */
	private Mono<Void> repeat(Node node, KvorumException failure, Attempts attempts) {
		long now = System.nanoTime();
		note(node, failure, now);
		if (!attempts.mayRepeat(node, failure, now) || !this.budget.take()) {
			return Mono.error(attempts.end(failure));
		}
		long pause = attempts.pauseNanos(failure, this.nodes.size(), ThreadLocalRandom.current().nextDouble());
		if (pause >= attempts.remainingNanos(now)) {
			return Mono.error(attempts.end(failure));
		}
		return (pause > 0) ? Mono.delay(Duration.ofNanos(pause)).then() : Mono.empty();
	}

	private static void note(Node node, KvorumException failure, long now) {
		if (failure instanceof NoAnswer) {
			node.failed(now);
			return;
		}
		node.answered();
		if (failure instanceof Overloaded overloaded && overloaded.retryAfter() != null) {
			node.rest(overloaded.retryAfter().toNanos(), now);
		}
	}

	/**
	 * A stream that goes on at another node when it breaks.
	 * @param part the stream from where it has come to on, at a node, with the longest
	 * time in which nothing comes
	 * @param progress tells how far the stream has come
	 */
	<T> Flux<T> stream(Function<Node, ? extends Publisher<T>> part, StreamProgress progress) {
		return Flux.defer(() -> {
			Resumption resumption = new Resumption(progress);
			return Flux.defer(() -> part.apply(resumption.choose()))
				.onErrorMap(error -> (error instanceof KvorumException) ? error
						: new NoAnswer("a range cannot be read: " + error.getMessage(), Outcome.NOT_APPLIED,
								resumption.node.url(), error))
				.retryWhen(Retry.from(signals -> signals.concatMap(signal -> resumption.after(signal.failure()))));
		});
	}

	/** Counts attempts between two steps forward. */
	private final class Resumption {

		private final StreamProgress progress;

		private Attempts attempts = fresh();

		private Node node = Calls.this.nodes.choose(this.attempts.tried());

		private long passed;

		private Resumption(StreamProgress progress) {
			this.progress = progress;
		}

		private Attempts fresh() {
			return new Attempts(true, false, Calls.this.limits.attempts(), deadlineNanos(null));
		}

		private Node choose() {
			this.node = Calls.this.nodes.choose(this.attempts.tried());
			return this.node;
		}

		private Mono<Boolean> after(Throwable failure) {
			if (!(failure instanceof KvorumException known)) {
				return Mono.error(failure);
			}
			if (this.progress.passed() > this.passed) {
				this.passed = this.progress.passed();
				this.attempts = fresh();
			}
			return repeat(this.node, known, this.attempts).thenReturn(true);
		}

	}

	/** How far a stream has come. */
	@FunctionalInterface
	interface StreamProgress {

		/** The number of elements. */
		long passed();

	}

}
