package io.kvorum.app;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Lists all problems of the API keys file. */
final class UnusableKeysFailureAnalyzer extends AbstractFailureAnalyzer<UnusableKeysException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnusableKeysException cause) {
		return new FailureAnalysis(String.valueOf(cause.getMessage()),
				"Correct that. Each key has an 'id', the 'sha256' of its secret, and 'rules' or 'actuator': see Access keys in operations.md. Without kvorum.access.keys-file every request is admitted.",
				cause);
	}

}
