package io.kvorum.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/** The directories of clusters. */
final class Directories {

	private static final String NAME = "kvorum-test";

	private Directories() {
	}

	/**
	 * Creates a directory.
	 * @param chosen in which it is made; null for what the build of this project removes,
	 * or else the temporary directory
	 */
	static Path create(@Nullable Path chosen, String prefix) {
		Path parent = (chosen != null) ? chosen : usual(Path.of(""));
		try {
			return Files.createTempDirectory(Files.createDirectories(parent.toAbsolutePath().normalize()),
					prefix + "-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static Path usual(Path project) {
		return Stream.of("target", "build")
			.map(project::resolve)
			.filter(Files::isDirectory)
			.findFirst()
			.orElse(Path.of(System.getProperty("java.io.tmpdir")))
			.resolve(NAME);
	}

	static void delete(Path directory) {
		try (Stream<Path> files = Files.walk(directory)) {
			// What is in a directory has to go before it.
			List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
			for (Path file : deepestFirst) {
				Files.deleteIfExists(file);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
