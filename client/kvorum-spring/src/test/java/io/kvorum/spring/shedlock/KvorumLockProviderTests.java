package io.kvorum.spring.shedlock;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.client.Codec;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.Outcome;
import io.kvorum.client.WriteOptions;
import io.kvorum.spring.FakeNode;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@DisplayName("Locks of ShedLock, at the worst moment")
@Timeout(60)
class KvorumLockProviderTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final FakeNode node = new FakeNode();

	private final KvorumClient client = this.node.client().build();

	private final AtomicLong nanos = new AtomicLong(System.nanoTime());

	private final KvorumLockProvider provider = new KvorumLockProvider(this.client, "locks/", this.nanos::get);

	@AfterEach
	void close() {
		this.client.close();
		this.node.close();
	}

	private static LockConfiguration named(String name) {
		return new LockConfiguration(Instant.now(), name, MINUTE, Duration.ZERO);
	}

	private SimpleLock lock() {
		return this.provider.lock(named("task")).orElseThrow();
	}

	private boolean isTaken() {
		return this.client.entities().get("locks/task").blockOptional().isPresent();
	}

	@Test
	@DisplayName("all that goes wrong is a LockException: no answer, a name that is too long, an event loop")
	void failures() {
		this.node.next(FakeNode.Exchange::loseAnswer);
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> this.provider.lock(named("task")))
			.withCauseInstanceOf(KvorumException.class);
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> this.provider.lock(named("x".repeat(2000))))
			.withCauseInstanceOf(IllegalArgumentException.class);
		Mono<?> onEventLoop = Mono.fromCallable(() -> this.provider.lock(named("other")))
			.subscribeOn(Schedulers.parallel());
		assertThatExceptionOfType(LockException.class).isThrownBy(onEventLoop::block)
			.withCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	@DisplayName("a closed client: lock, extend and unlock are LockExceptions")
	void closed() {
		SimpleLock lock = lock();
		this.client.close();
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> this.provider.lock(named("other")));
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> lock.extend(MINUTE, Duration.ZERO));
		assertThatExceptionOfType(LockException.class).isThrownBy(lock::unlock);
	}

	@Test
	@DisplayName("a task that was interrupted gives its lock back, and the thread stays interrupted")
	void interrupted() {
		SimpleLock lock = lock();
		Thread.currentThread().interrupt();
		lock.unlock();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(isTaken()).isFalse();
	}

	@Test
	@DisplayName("lock on an interrupted thread takes it: an answer that nobody waits for would leave it taken")
	void lockInterrupted() {
		Thread.currentThread().interrupt();
		SimpleLock lock = lock();
		assertThat(Thread.interrupted()).isTrue();
		lock.unlock();
		assertThat(isTaken()).isFalse();
	}

	@Test
	@DisplayName("an extension that is answered after its time returns no lock, and gives it back")
	void extendedTooLate() {
		SimpleLock lock = lock();
		this.node.next(request -> {
			this.nanos.addAndGet(MINUTE.toNanos());
			return request.answer();
		});
		assertThatExceptionOfType(LockException.class).isThrownBy(() -> lock.extend(MINUTE, Duration.ZERO))
			.withMessageContaining("had ended");
		assertThat(isTaken()).isFalse();
	}

	@Test
	@DisplayName("a lock that is answered after its time is not returned, and is given back")
	void lockedTooLate() {
		this.node.next(request -> {
			this.nanos.addAndGet(MINUTE.toNanos());
			return request.answer();
		});
		assertThatExceptionOfType(LockException.class).isThrownBy(this::lock).withMessageContaining("had ended");
		assertThat(isTaken()).isFalse();
	}

	@Test
	@DisplayName("a lock that is given back too late by a failing node is a LockException all the same")
	void notGivenBack() {
		this.node.next(request -> {
			this.nanos.addAndGet(MINUTE.toNanos());
			this.client.close();
			return request.answer();
		});
		assertThatExceptionOfType(LockException.class).isThrownBy(this::lock);
	}

	@Test
	@DisplayName("a lock that was perhaps taken by a request before its keys moved is not held by another one")
	void perhapsTaken() {
		try (KvorumClient repeating = this.node.client().maxAttempts(3).build()) {
			this.node.always(request -> request.name().equals("GET moved") ? request.retired() : request.answer());
			this.node.next(FakeNode.Exchange::loseAnswer);
			this.node.next(request -> repeating.entities()
				.get("moved")
				.then()
				.onErrorComplete(KvorumException.class)
				.then(Mono.defer(request::answer)));
			KvorumLockProvider locks = new KvorumLockProvider(repeating, "locks/", this.nanos::get);

			assertThatExceptionOfType(LockException.class).isThrownBy(() -> locks.lock(named("task")))
				.havingCause()
				.isInstanceOfSatisfying(KvorumException.class,
						cause -> assertThat(cause.outcome()).isEqualTo(Outcome.UNKNOWN));
		}
	}

	@Test
	@DisplayName("a lock that has ended is not extended: neither a free one nor that of another holder")
	void ended() {
		SimpleLock lock = lock();
		this.client.entities().delete("locks/task").block();
		assertThat(lock.extend(MINUTE, Duration.ZERO)).isEmpty();
		assertThat(isTaken()).isFalse();
		SimpleLock free = lock();
		this.client.entities(Codec.text())
			.put("locks/task", "another holder", WriteOptions.DEFAULTS.ttl(MINUTE))
			.block();
		assertThat(free.extend(MINUTE, Duration.ZERO)).isEmpty();
		assertThat(this.client.entities(Codec.text()).get("locks/task").blockOptional().orElseThrow().value())
			.isEqualTo("another holder");
	}

}
