package io.kvorum.spring.shedlock;

import java.time.Duration;
import java.util.Optional;

import io.kvorum.client.BlockingEntities;
import io.kvorum.client.Codec;
import io.kvorum.client.KvorumClient;
import io.kvorum.test.KvorumExtension;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * ShedLock's own tests of providers. Three of them are given more time, since a lock
 * lasts up to two seconds longer than {@code lockAtMostFor}.
 */
@DisplayName("ShedLock's own tests")
class KvorumLockProviderSuiteIT extends AbstractExtensibleLockProviderIntegrationTest {

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(1);

	@SuppressWarnings("NullAway.Init")
	private static KvorumClient client;

	@BeforeAll
	static void connect() {
		client = KvorumClient.builder(kvorum.urls()).build();
	}

	@AfterAll
	static void close() {
		client.close();
	}

	@Override
	protected ExtensibleLockProvider getLockProvider() {
		return new KvorumLockProvider(client);
	}

	private static BlockingEntities<String> owners() {
		return client.entities(Codec.text()).blocking();
	}

	@Override
	protected void assertUnlocked(String lockName) {
		assertThat(owners().get("shedlock/" + lockName)).isEmpty();
	}

	@Override
	protected void assertLocked(String lockName) {
		assertThat(owners().get("shedlock/" + lockName)).isPresent();
	}

	@Test
	@Override
	public void shouldTimeout() throws InterruptedException {
		// It sleeps for twice that time.
		doTestTimeout(ofSeconds(2));
	}

	@Test
	@Override
	public void shouldLockAtLeastFor() throws InterruptedException {
		doTestShouldLockAtLeastFor(600);
	}

	@Test
	@Override
	public void shouldNotBeAbleToExtendExpiredLock() {
		Optional<SimpleLock> lock = getLockProvider().lock(lockConfig(this.LOCK_NAME1, ofMillis(2), ZERO));
		assertThat(lock).isNotEmpty();
		sleepFor(Duration.ofMillis(1600));
		assertThat(lock.orElseThrow().extend(ofSeconds(10), ZERO)).isEmpty();
		assertUnlocked(this.LOCK_NAME1);
	}

}
