package io.kvorum.spring.shedlock;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.client.Codec;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.WriteOptions;
import io.kvorum.test.KvorumExtension;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@DisplayName("Locks of ShedLock")
class KvorumLockProviderIT {

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(1).relayed();

	private static final Duration MINUTES = Duration.ofMinutes(5);

	/** So that others go on after a lock that was left without a holder. */
	private static final Duration BRIEF = Duration.ofSeconds(2);

	private final KvorumClient client = KvorumClient.builder(kvorum.urls()).build();

	private final KvorumClient otherClient = KvorumClient.builder(kvorum.urls()).build();

	private final KvorumLockProvider provider = new KvorumLockProvider(this.client, "locks/");

	private final KvorumLockProvider other = new KvorumLockProvider(this.otherClient, "locks/");

	@AfterEach
	void close() {
		this.client.close();
		this.otherClient.close();
	}

	private static LockConfiguration times(String name, Duration atMost, Duration atLeast) {
		return new LockConfiguration(Instant.now(), name, atMost, atLeast);
	}

	@RepeatedTest(5)
	@DisplayName("8 threads of two providers take a lock at the same time: one has it")
	void oneWins() throws Exception {
		LockConfiguration configuration = times("race" + System.nanoTime(), MINUTES, Duration.ZERO);
		List<Callable<Boolean>> tasks = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			KvorumLockProvider taker = (i % 2 == 0) ? this.provider : this.other;
			tasks.add(() -> taker.lock(configuration).isPresent());
		}
		ExecutorService threads = Executors.newFixedThreadPool(8);
		int winners = 0;
		for (Future<Boolean> taken : threads.invokeAll(tasks)) {
			winners += taken.get() ? 1 : 0;
		}
		threads.shutdown();
		assertThat(winners).isEqualTo(1);
	}

	@Test
	@DisplayName("two providers whose connections are cut again and again never both hold a lock")
	void neverBoth() throws Exception {
		AtomicBoolean isOver = new AtomicBoolean();
		AtomicInteger holders = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicInteger taken = new AtomicInteger();
		AtomicInteger unknown = new AtomicInteger();
		List<Callable<Void>> tasks = new ArrayList<>();
		for (KvorumLockProvider taker : List.of(this.provider, this.other, this.provider, this.other)) {
			tasks.add(() -> {
				while (!isOver.get()) {
					try {
						Optional<SimpleLock> lock = taker.lock(times("cut", BRIEF, Duration.ZERO));
						if (lock.isPresent()) {
							most.accumulateAndGet(holders.incrementAndGet(), Math::max);
							taken.incrementAndGet();
							pause(2);
							holders.decrementAndGet();
							lock.get().unlock();
						}
					}
					catch (LockException ex) {
						unknown.incrementAndGet();
					}
				}
				return null;
			});
		}
		long seed = System.nanoTime();
		Random random = new Random(seed);
		ExecutorService threads = Executors.newFixedThreadPool(5);
		Future<?> cuts = threads.submit(() -> {
			for (int i = 0; i < 40; i++) {
				kvorum.node(1).cutFromClients();
				pause(1 + random.nextInt(20));
				kvorum.node(1).heal();
				pause(20 + random.nextInt(60));
			}
			isOver.set(true);
		});
		for (Future<Void> task : threads.invokeAll(tasks)) {
			task.get();
		}
		cuts.get();
		threads.shutdown();
		System.out.printf("  taken %s times, failed %s times, seed %d%n", taken, unknown, seed);
		assertThat(most).hasValue(1);
		assertThat(taken).hasPositiveValue();
	}

	/** The time for which a lock is held, or a connection is cut. */
	private static void pause(int millis) {
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	@DisplayName("a lock that was taken after another has a greater token")
	void tokens() {
		KvorumLock first = lock("tokens", MINUTES, Duration.ZERO);
		KvorumLock extended = (KvorumLock) first.extend(MINUTES, Duration.ZERO).orElseThrow();
		extended.unlock();
		KvorumLock second = lock("tokens", MINUTES, Duration.ZERO);
		assertThat(extended.token()).isGreaterThan(first.token());
		assertThat(second.token()).isGreaterThan(extended.token());
		second.unlock();
	}

	private KvorumLock lock(String name, Duration atMost, Duration atLeast) {
		return (KvorumLock) this.provider.lock(times(name, atMost, atLeast)).orElseThrow();
	}

	@Test
	@DisplayName("a holder that was too slow does not unlock the lock of the next one, and cannot extend it")
	void tooSlow() {
		KvorumLock slow = lock("slow", MINUTES, Duration.ZERO);
		KvorumLock another = lock("slow2", MINUTES, Duration.ZERO);
		expire("slow");
		expire("slow2");
		SimpleLock next = this.other.lock(times("slow", MINUTES, Duration.ZERO)).orElseThrow();
		SimpleLock next2 = this.other.lock(times("slow2", MINUTES, Duration.ZERO)).orElseThrow();
		slow.unlock();
		assertThat(this.provider.lock(times("slow", MINUTES, Duration.ZERO))).isEmpty();
		assertThat(another.extend(MINUTES, Duration.ZERO)).isEmpty();
		assertThat(this.provider.lock(times("slow2", MINUTES, Duration.ZERO))).isEmpty();
		next.unlock();
		next2.unlock();
	}

	private void expire(String name) {
		this.client.entities().delete("locks/" + name).block();
	}

	@Test
	@DisplayName("a lock whose extension is not known to have happened is unlocked all the same")
	void extendedUnknown() {
		KvorumLock lock = lock("extended", MINUTES, Duration.ZERO);
		// As an extension leaves it whose answer was lost: the same owner, another
		// version.
		String owner = this.client.entities(Codec.text()).get("locks/extended").blockOptional().orElseThrow().value();
		this.client.entities(Codec.text())
			.put("locks/extended", owner, WriteOptions.DEFAULTS.ifVersion(lock.token()).ttl(MINUTES))
			.block();
		lock.unlock();
		assertThat(this.client.entities().get("locks/extended").blockOptional()).isEmpty();
	}

	@Test
	@DisplayName("lockAtLeastFor of 300 ms: held after it is unlocked, and free long before a second is over")
	void shortLeast() {
		long begun = System.nanoTime();
		lock("least", MINUTES, Duration.ofMillis(300)).unlock();
		assertThat(this.other.lock(times("least", MINUTES, Duration.ZERO))).isEmpty();
		while (this.client.entities().get("locks/least").blockOptional().isPresent()) {
			Thread.onSpinWait();
		}
		assertThat(Duration.ofNanos(System.nanoTime() - begun)).isBetween(Duration.ofMillis(250),
				Duration.ofMillis(950));
	}

	@Test
	@DisplayName("without a node: an error, not a lock that another one holds")
	void noNode() {
		try (KvorumClient lost = KvorumClient.builder("http://localhost:1").deadline(Duration.ofMillis(200)).build()) {
			assertThatExceptionOfType(LockException.class)
				.isThrownBy(() -> new KvorumLockProvider(lost).lock(times("lost", MINUTES, Duration.ZERO)))
				.withMessageContaining("lost");
		}
	}

}
