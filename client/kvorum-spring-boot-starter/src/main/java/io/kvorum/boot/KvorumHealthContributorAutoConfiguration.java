package io.kvorum.boot;

import io.kvorum.client.KvorumClient;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.CompositeReactiveHealthContributorConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.ReactiveHealthContributor;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * Adds the cluster to the health of the application, as {@code kvorum}; with several
 * clients each by the name of its bean. {@code management.health.kvorum.enabled=false}
 * leaves it out.
 */
@AutoConfiguration(after = KvorumClientAutoConfiguration.class)
@ConditionalOnClass({ ReactiveHealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnBean(KvorumClient.class)
@ConditionalOnEnabledHealthIndicator("kvorum")
public final class KvorumHealthContributorAutoConfiguration
		extends CompositeReactiveHealthContributorConfiguration<KvorumHealthIndicator, KvorumClient> {

	KvorumHealthContributorAutoConfiguration() {
		super(KvorumHealthIndicator::new);
	}

	@Bean
	@ConditionalOnMissingBean(name = { "kvorumHealthIndicator", "kvorumHealthContributor" })
	ReactiveHealthContributor kvorumHealthContributor(ConfigurableListableBeanFactory beans) {
		return createContributor(beans, KvorumClient.class);
	}

}
