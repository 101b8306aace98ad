package io.kvorum.cli;

import java.util.Locale;

/** The form of what a command prints. */
enum Format {

	TABLE, JSON;

	/** As it is given in an option. */
	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
