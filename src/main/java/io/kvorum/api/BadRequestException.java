package io.kvorum.api;

/** A request that cannot be understood. Nothing was done. */
final class BadRequestException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	/**
	 * @param problem the kind, the last part of the problem's type
	 * @param detail what is wrong and what to do
	 */
	BadRequestException(String problem, String detail) {
		super(detail, null, false, false);
		this.problem = problem;
	}

	String problem() {
		return this.problem;
	}

}
