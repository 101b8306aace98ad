package io.kvorum.app;

import io.kvorum.transport.ReplicaPortException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains why the replica port was not opened, instead of a stack trace. */
final class ReplicaPortFailureAnalyzer extends AbstractFailureAnalyzer<ReplicaPortException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ReplicaPortException cause) {
		return new FailureAnalysis(String.valueOf(cause.getMessage()),
				"Check kvorum.cluster.self, and which process listens on that port.", cause);
	}

}
