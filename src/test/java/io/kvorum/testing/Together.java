package io.kvorum.testing;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Runs something on several threads that begin at the same moment. */
public final class Together {

	private Together() {
	}

	/**
	 * Calls what {@code work} makes of 0, 1, … on a thread each.
	 * @return what they return, in this order
	 * @throws AssertionError if one of them fails
	 */
	public static <T> List<T> run(int threads, IntFunction<Callable<T>> work) {
		CyclicBarrier start = new CyclicBarrier(threads);
		try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
			List<Future<T>> results = IntStream.range(0, threads).mapToObj(thread -> executor.submit(() -> {
				start.await();
				return work.apply(thread).call();
			})).toList();
			return results.stream().map(Together::get).toList();
		}
	}

	private static <T> T get(Future<T> future) {
		try {
			return future.get();
		}
		catch (ExecutionException ex) {
			throw new AssertionError("one of several threads failed: " + ex.getCause(), ex.getCause());
		}
		catch (InterruptedException ex) {
			throw new AssertionError("interrupted", ex);
		}
	}

}
