package io.kvorum.app;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import io.kvorum.replication.Alarms;
import io.kvorum.storage.CallerThreads;
import reactor.core.publisher.Mono;

/**
 * Alarms on the event loop that sets them, or on the thread of convergence, so that no
 * other thread is woken. Most alarms are cancelled, and both remove those at once.
 */
final class CallerAlarms implements Alarms {

	private final CallerThreads callers;

	CallerAlarms(CallerThreads callers) {
		this.callers = callers;
	}

	@Override
	public Mono<Long> after(Duration time) {
		Executor caller = this.callers.current();
		if (!(caller instanceof ScheduledExecutorService executor)) {
			return Mono.delay(time);
		}
		return Mono.create(sink -> {
			ScheduledFuture<?> alarm = executor.schedule(() -> sink.success(0L), time.toNanos(), TimeUnit.NANOSECONDS);
			sink.onDispose(() -> alarm.cancel(false));
		});
	}

}
