package io.kvorum.app;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Reads the properties of a node and reports all their violations at once. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(KvorumProperties.class)
class PropertiesConfiguration {

	@Bean
	static ConfigurationPropertiesBindHandlerAdvisor violationCollector() {
		return ViolationCollector::new;
	}

}
