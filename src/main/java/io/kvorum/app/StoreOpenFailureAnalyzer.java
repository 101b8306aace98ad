package io.kvorum.app;

import io.kvorum.storage.StoreOpenException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains why a store was not opened, and the remedy, instead of a stack trace. */
final class StoreOpenFailureAnalyzer extends AbstractFailureAnalyzer<StoreOpenException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, StoreOpenException cause) {
		return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.action(), cause);
	}

}
