package io.kvorum.boot;

import io.kvorum.client.KvorumClient;
import io.kvorum.spring.shedlock.KvorumLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Makes a {@link KvorumLockProvider} if ShedLock is on the class path, unless the
 * application has a {@link LockProvider}. Its keys begin with
 * {@value KvorumLockProvider#DEFAULT_PREFIX}, so applications that share a cluster have
 * different names of locks, or a provider of their own with another prefix.
 */
@AutoConfiguration(after = KvorumClientAutoConfiguration.class)
@ConditionalOnClass(LockProvider.class)
@ConditionalOnSingleCandidate(KvorumClient.class)
public final class KvorumLockProviderAutoConfiguration {

	KvorumLockProviderAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean(LockProvider.class)
	KvorumLockProvider kvorumLockProvider(KvorumClient client) {
		return new KvorumLockProvider(client);
	}

}
