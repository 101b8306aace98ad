package io.kvorum.app;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Lists all violations in the configuration. Runs before Spring's own analyzers, which
 * would report only the first.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class WrongPropertiesFailureAnalyzer extends AbstractFailureAnalyzer<WrongPropertiesException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, WrongPropertiesException cause) {
		return new FailureAnalysis(String.valueOf(cause.getMessage()),
				"Correct these properties, or remove them to get the defaults.", cause);
	}

}
