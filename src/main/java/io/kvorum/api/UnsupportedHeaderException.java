package io.kvorum.api;

/** A header asks for what this node does not do. Nothing was done. */
final class UnsupportedHeaderException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient Problem problem;

	UnsupportedHeaderException(Problem problem) {
		super(problem.detail(), null, false, false);
		this.problem = problem;
	}

	Problem problem() {
		return this.problem;
	}

}
