package io.kvorum.app;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.kvorum.replication.Alarms;
import io.kvorum.storage.CallerThreads;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import reactor.core.publisher.Mono;

/**
 * Alarms on the event loop that sets them, so that no other thread is woken. Most alarms
 * are cancelled, and the loop removes those at once.
 */
final class EventLoopAlarms implements Alarms {

	private final CallerThreads callers;

	EventLoopAlarms(CallerThreads callers) {
		this.callers = callers;
	}

	@Override
	public Mono<Long> after(Duration time) {
		Executor caller = this.callers.current();
		if (!(caller instanceof EventLoop loop)) {
			return Mono.delay(time);
		}
		return Mono.create(sink -> {
			ScheduledFuture<?> alarm = loop.schedule(() -> sink.success(0L), time.toNanos(), TimeUnit.NANOSECONDS);
			sink.onDispose(() -> alarm.cancel(false));
		});
	}

}
