package io.kvorum.api;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/**
 * Whether there is a console: as {@code kvorum.console.enabled} says, or else if nothing
 * guards the API.
 */
final class ConsoleCondition implements Condition {

	@Override
	public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Environment environment = context.getEnvironment();
		String enabled = environment.getProperty("kvorum.console.enabled");
		return StringUtils.hasText(enabled) ? Boolean.parseBoolean(enabled)
				: !environment.containsProperty("kvorum.access.keys-file");
	}

}
