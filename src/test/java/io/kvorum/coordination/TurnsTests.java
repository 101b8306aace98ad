package io.kvorum.coordination;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.kv.Key;
import io.kvorum.storage.CallerThreads;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;

class TurnsTests {

	private static final Key KEY = Generator.key("key");

	private static final Key OTHER = Generator.key("other");

	private static final Turns.Answering<String> NEVER = (_, _) -> null;

	/** How a write is answered by the end of another one. */
	private Turns.Answering<String> answering = NEVER;

	/** Ends the writes that wait. */
	private final Sinks.One<RuntimeException> late = Sinks.one();

	private final Turns<String> turns = new Turns<>(CallerThreads.NONE);

	/** The writes that have begun, in their order. */
	private final List<Write> begun = new ArrayList<>();

	@AfterEach
	void nothingIsLeft() {
		assertThat(this.turns.size()).isZero();
	}

	@Test
	void writesOfAKeyRunOneAfterTheOtherInTheirOrder() {
		Write first = write(this.turns, KEY);
		Write second = write(this.turns, KEY);
		Write third = write(this.turns, KEY);

		assertThat(this.begun).containsExactly(first);
		first.sink().success("a");
		assertThat(this.begun).containsExactly(first, second);
		second.sink().success("b");
		assertThat(this.begun).containsExactly(first, second, third);
		third.sink().success("c");

		assertThat(first.result).isCompletedWithValue("a");
		assertThat(second.result).isCompletedWithValue("b");
		assertThat(third.result).isCompletedWithValue("c");
	}

	@Test
	void writesOfDifferentKeysRunAtOnce() {
		Write first = write(this.turns, KEY);
		Write other = write(this.turns, OTHER);

		assertThat(this.begun).containsExactly(first, other);
		assertThat(this.turns.size()).isEqualTo(2);
		first.sink().success("a");
		other.sink().success("b");
	}

	@Test
	void theNextOneBeginsAfterAnErrorAndAfterAnEmptyEnd() {
		Write first = write(this.turns, KEY);
		Write second = write(this.turns, KEY);
		Write third = write(this.turns, KEY);

		first.sink().error(new IllegalStateException("failed"));
		assertThat(first.result).isCompletedExceptionally();
		assertThat(this.begun).containsExactly(first, second);
		second.sink().success();
		assertThat(second.result).isCompletedWithValue(null);
		assertThat(this.begun).containsExactly(first, second, third);
		third.sink().success("c");
	}

	@Test
	void aWriteThatIsCancelledWhileItWaitsNeverBegins() {
		Write first = write(this.turns, KEY);
		Write second = write(this.turns, KEY);
		Write third = write(this.turns, KEY);

		second.subscription.dispose();
		first.sink().success("a");

		assertThat(this.begun).containsExactly(first, third);
		third.sink().success("c");
	}

	@Test
	void aWriteThatIsCancelledWhileItRunsIsCancelledAndLetsTheNextOneBegin() {
		Write first = write(this.turns, KEY);
		Write second = write(this.turns, KEY);

		first.subscription.dispose();

		assertThat(first.isCancelled).isTrue();
		assertThat(this.begun).containsExactly(first, second);
		second.sink().success("b");
	}

	@Test
	void aWriteOfWhichTheSourceThrowsLetsTheNextOneBegin() {
		Write first = write(this.turns, KEY);
		CompletableFuture<@Nullable String> failing = this.turns.inTurn(KEY, Mono.<String>defer(() -> {
			throw new IllegalStateException("no write");
		}), Mono.never(), NEVER).toFuture();
		Write third = write(this.turns, KEY);

		first.sink().success("a");

		assertThat(failing).isCompletedExceptionally();
		assertThat(this.begun).containsExactly(first, third);
		third.sink().success("c");
	}

	@Test
	void aWriteWhoseTimeIsOverWhileItWaitsIsNotRunAndOneThatRunsGoesOn() {
		Write first = write(this.turns, KEY);
		Write second = write(this.turns, KEY);

		this.late.tryEmitValue(new IllegalStateException("late"));
		assertThat(second.result).failsWithin(Duration.ZERO).withThrowableThat().withMessageContaining("late");
		assertThat(first.isCancelled).isFalse();
		first.sink().success("a");

		assertThat(first.result).isCompletedWithValue("a");
		assertThat(this.begun).containsExactly(first);
	}

	@Test
	void aWriteWhoseTimeIsOverJustBeforeItBeginsIsRun() {
		Queue<Runnable> tasks = new ArrayDeque<>();
		Turns<String> turns = new Turns<>(() -> tasks::add);
		Write first = write(turns, KEY);
		Write second = write(turns, KEY);

		first.sink().success("a");
		this.late.tryEmitValue(new IllegalStateException("late"));
		tasks.remove().run();

		second.sink().success("b");
		assertThat(second.result).isCompletedWithValue("b");
		assertThat(turns.size()).isZero();
	}

	@Test
	void aWriteThatWaitedBeginsOnTheExecutorOfItsCaller() {
		Queue<Runnable> tasks = new ArrayDeque<>();
		Turns<String> turns = new Turns<>(() -> tasks::add);
		Write first = write(turns, KEY);
		Write second = write(turns, KEY);

		first.sink().success("a");
		assertThat(this.begun).containsExactly(first);
		tasks.remove().run();
		assertThat(this.begun).containsExactly(first, second);
		second.sink().success("b");
		assertThat(turns.size()).isZero();
	}

	@Test
	void aWriteThatIsCancelledJustBeforeItBeginsOnTheExecutorIsNotRun() {
		Queue<Runnable> tasks = new ArrayDeque<>();
		Turns<String> turns = new Turns<>(() -> tasks::add);
		Write first = write(turns, KEY);
		Write second = write(turns, KEY);
		Write third = write(turns, KEY);

		first.sink().success("a");
		second.subscription.dispose();
		while (!tasks.isEmpty()) {
			tasks.remove().run();
		}

		assertThat(this.begun).containsExactly(first, third);
		third.sink().success("c");
		assertThat(turns.size()).isZero();
	}

	@Test
	void aWriteBeginsThoughItsExecutorShutsDown() {
		Turns<String> turns = new Turns<>(() -> _ -> {
			throw new RejectedExecutionException();
		});
		Write first = write(turns, KEY);
		Write second = write(turns, KEY);

		first.sink().success("a");

		assertThat(this.begun).containsExactly(first, second);
		second.sink().success("b");
		assertThat(turns.size()).isZero();
	}

	@Test
	void whateverThreadsWriteAndCancelOnlyOneRunsAtATimeAndAllEnd() throws Exception {
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		int writes = Turns.MAX_WAITING;
		CountDownLatch ended = new CountDownLatch(writes);
		ExecutorService threads = Executors.newFixedThreadPool(4);
		Turns<String> turns = new Turns<>(() -> threads);
		try (threads) {
			Mono<String> write = Mono.fromSupplier(() -> {
				most.accumulateAndGet(running.incrementAndGet(), Math::max);
				Thread.onSpinWait();
				running.decrementAndGet();
				return "done";
			});
			for (int i = 0; i < writes; i++) {
				boolean isCancelled = i % 7 == 0;
				threads.execute(() -> {
					Disposable subscription = turns.inTurn(KEY, write, Mono.never(), NEVER)
						.doFinally(_ -> ended.countDown())
						.subscribe();
					if (isCancelled) {
						subscription.dispose();
					}
				});
			}
			assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
		}
		assertThat(most).hasValue(1);
		assertThat(turns.size()).isZero();
	}

	@Test
	void theEndOfAWriteDoesNotAnswerThoseThatCameAfterItsBeginning() {
		Write first = write(this.turns, KEY);
		this.answering = (result, _) -> new IllegalStateException("after " + result);
		Write waiting = write(this.turns, KEY);
		first.sink().success("a");

		// It came after the first one had begun, and what that found may be older.
		assertThat(this.begun).containsExactly(first, waiting);
		Write later = write(this.turns, KEY);
		waiting.sink().success("b");
		assertThat(this.begun).containsExactly(first, waiting, later);
		later.sink().success("c");
		assertThat(later.result).isCompletedWithValue("c");
	}

	@Test
	void ofManyThatWaitOneAsksForAll() {
		Write first = write(this.turns, KEY);
		Write second = write(this.turns, KEY);
		this.answering = (result, error) -> (error != null) ? error : new IllegalStateException("after " + result);
		List<Write> waiting = List.of(write(this.turns, KEY), write(this.turns, KEY), write(this.turns, KEY));
		first.sink().success("a");
		IllegalStateException failure = new IllegalStateException("not met");
		second.sink().error(failure);

		assertThat(this.begun).containsExactly(first, second);
		assertThat(waiting).allSatisfy(write -> assertThat(write.result).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCause(failure));
	}

	@Test
	void oneThatIsNotAnsweredBeginsAndOthersBehindItAreAnswered() {
		Write first = write(this.turns, KEY);
		Write second = write(this.turns, KEY);
		Write third = write(this.turns, KEY);
		this.answering = (_, _) -> new IllegalStateException("answered");
		Write fourth = write(this.turns, KEY);
		first.sink().success("a");
		second.sink().success("b");

		assertThat(this.begun).containsExactly(first, second, third);
		assertThat(fourth.result).isCompletedExceptionally();
		third.sink().success("c");
		assertThat(third.result).isCompletedWithValue("c");
	}

	@Test
	void oneMoreThanMayWaitFails() {
		List<Write> writes = new ArrayList<>();
		for (int i = 0; i < Turns.MAX_WAITING; i++) {
			writes.add(write(this.turns, KEY));
		}

		assertThat(write(this.turns, KEY).result).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(Turns.FullException.class);
		assertThat(write(this.turns, OTHER).sink()).isNotNull();
		this.begun.getLast().sink().success("other");
		writes.forEach(write -> write.sink().success("done"));
		assertThat(writes).allSatisfy(write -> assertThat(write.result).isCompletedWithValue("done"));
	}

	private Write write(Turns<String> turns, Key key) {
		Write write = new Write();
		Mono<String> source = Mono.create(sink -> {
			write.running = sink;
			sink.onCancel(() -> write.isCancelled = true);
			this.begun.add(write);
		});
		write.subscription = turns.inTurn(key, source, this.late.asMono(), this.answering)
			.subscribe(write.result::complete, write.result::completeExceptionally, () -> write.result.complete(null));
		return write;
	}

	private static final class Write {

		private final CompletableFuture<String> result = new CompletableFuture<>();

		private Disposable subscription = () -> {
		};

		private boolean isCancelled;

		private @Nullable MonoSink<String> running;

		MonoSink<String> sink() {
			if (this.running == null) {
				throw new AssertionError("it has not begun");
			}
			return this.running;
		}

	}

}
