package io.kvorum.app;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Lists all that is wrong with the file of the API keys. */
final class UnusableKeysFailureAnalyzer extends AbstractFailureAnalyzer<UnusableKeysException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnusableKeysException cause) {
		return new FailureAnalysis(String.valueOf(cause.getMessage()),
				"Correct the file; src/main/scripts/new-api-key writes an entry. Without kvorum.access.keys-file everybody is let in.",
				cause);
	}

}
