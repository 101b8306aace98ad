package io.kvorum.testing;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a class of tests after which there is a {@code ./data} that was not there before
 * this JVM: the default of {@code kvorum.storage.path}, which a node that a user starts
 * in this checkout would serve. JUnit finds it in META-INF/services, for all classes.
 */
public final class NoTrace implements BeforeAllCallback, AfterAllCallback {

	private static final Path DATA = Path.of("data").toAbsolutePath();

	private static final boolean WAS_THERE = Files.exists(DATA);

	@Override
	public void beforeAll(ExtensionContext context) {
		check("before");
	}

	@Override
	public void afterAll(ExtensionContext context) {
		check("after");
	}

	private static void check(String when) {
		if (!WAS_THERE && Files.exists(DATA)) {
			throw new AssertionError("Tests have made %s, which is there %s this class and was not at their start: "
				.formatted(DATA, when)
					+ "a node of theirs had no kvorum.storage.path. Give it one below target, and remove the directory.");
		}
	}

}
