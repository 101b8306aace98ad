package io.kvorum.boot;

import java.util.Optional;

import io.kvorum.client.KvorumClient;
import io.kvorum.spring.shedlock.KvorumLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("The lock provider of an application")
class KvorumLockProviderAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(KvorumLockProviderAutoConfiguration.class));

	private final ApplicationContextRunner withClient = this.runner
		.withConfiguration(AutoConfigurations.of(KvorumClientAutoConfiguration.class));

	@Test
	@DisplayName("is Kvorum")
	void made() {
		this.withClient
			.run((context) -> assertThat(context).getBean(LockProvider.class).isInstanceOf(KvorumLockProvider.class));
	}

	@Test
	@DisplayName("is the application's own, if it has one")
	void own() {
		LockProvider own = (configuration) -> Optional.empty();
		this.withClient.withBean("own", LockProvider.class, () -> own)
			.run((context) -> assertThat(context).getBean(LockProvider.class).isSameAs(own));
	}

	@Test
	@DisplayName("is absent without a client, and with two of which none is primary")
	void noSingleClient() {
		this.runner.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
		this.runner.withBean("one", KvorumClient.class, KvorumLockProviderAutoConfigurationTests::client)
			.withBean("two", KvorumClient.class, KvorumLockProviderAutoConfigurationTests::client)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
	}

	@Test
	@DisplayName("is absent without ShedLock on the class path, and the application starts")
	void absent() {
		new ApplicationContextRunner().withUserConfiguration(Application.class)
			.withClassLoader(new FilteredClassLoader("net.javacrumbs.shedlock"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(KvorumClient.class)
				.doesNotHaveBean(KvorumLockProviderAutoConfiguration.class));
	}

	private static KvorumClient client() {
		return KvorumClient.builder("http://localhost:1").build();
	}

	/** Chooses auto-configurations as Spring Boot does: by what they need. */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ KvorumClientAutoConfiguration.class, KvorumLockProviderAutoConfiguration.class })
	static class Application {

	}

}
