package io.kvorum.app;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Lists all problems of the API keys file. */
final class UnusableKeysFailureAnalyzer extends AbstractFailureAnalyzer<UnusableKeysException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnusableKeysException cause) {
		return new FailureAnalysis(String.valueOf(cause.getMessage()),
				"Correct the file; src/main/scripts/new-api-key writes an entry. Without kvorum.access.keys-file every request is admitted.",
				cause);
	}

}
