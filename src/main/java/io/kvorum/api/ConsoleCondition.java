package io.kvorum.api;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Whether there is a console: as {@code kvorum.console.enabled} says, or else if nothing
 * guards the API.
 */
final class ConsoleCondition implements Condition {

	@Override
	public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Environment environment = context.getEnvironment();
		try {
			Boolean enabled = environment.getProperty("kvorum.console.enabled", Boolean.class);
			return (enabled != null) ? enabled : !environment.containsProperty("kvorum.access.keys-file");
		}
		catch (ConversionException _) {
			// The check of all properties says what is wrong with it.
			return false;
		}
	}

}
