package io.kvorum.api;

/** Signals that a request is answered with a problem. Nothing was done. */
final class ProblemException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient Problem problem;

	ProblemException(Problem problem) {
		super(problem.detail(), null, false, false);
		this.problem = problem;
	}

	/**
	 * Creates the exception of a request that cannot be understood.
	 * @param detail what is wrong and what to do
	 */
	static ProblemException badRequest(ProblemType type, String detail) {
		return new ProblemException(new Problem(type, detail));
	}

	Problem problem() {
		return this.problem;
	}

}
