package io.kvorum.cli;

/** How a command ends. {@link Kvorum} documents the numbers. */
enum ExitCode {

	DONE(0), NO(1), WRONG(2), NOT_DONE(3), UNKNOWN(4);

	private final int code;

	ExitCode(int code) {
		this.code = code;
	}

	int code() {
		return this.code;
	}

}
