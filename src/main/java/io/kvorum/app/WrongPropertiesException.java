package io.kvorum.app;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Signals a configuration that cannot be used, with all its violations. */
final class WrongPropertiesException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	WrongPropertiesException(List<Violation> violations) {
		super(violations.stream()
			.sorted(Comparator.comparing(Violation::name))
			.map(Violation::toString)
			.collect(Collectors.joining("\n    ", "The configuration cannot be used:\n\n    ", "")));
	}

}
