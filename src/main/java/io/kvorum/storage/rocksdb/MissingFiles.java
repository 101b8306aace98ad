package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.kvorum.storage.StoreOpenException;

/**
 * Refuses a directory from which files of its database are gone, where RocksDB would not.
 * <p>
 * Without the file {@code CURRENT} RocksDB begins a new database. It fails at the old
 * log, and then has a {@code CURRENT}: the next start finds an empty database, and
 * removes all tables. Without any log it opens what is in the tables. That the newest of
 * several logs is gone, no file tells.
 */
final class MissingFiles {

	private static final String CURRENT = "CURRENT";

	private static final Pattern TABLE = Pattern.compile("\\d+\\.sst");

	private static final Pattern LOG = Pattern.compile("\\d+\\.log");

	/** Written when a database is open, and has its log. */
	private static final Pattern OPTIONS = Pattern.compile("OPTIONS-\\d+");

	private MissingFiles() {
	}

	/**
	 * Looks at the names of files only, and changes nothing.
	 * @throws StoreOpenException if files are gone
	 */
	static void refuse(Path directory) {
		List<String> names = Files.isDirectory(directory) ? namesIn(directory) : List.of();
		boolean hasLog = has(names, LOG);
		if (!names.contains(CURRENT) && (hasLog || has(names, TABLE))) {
			throw Failures.damaged(directory, "it has tables or a log, and its file CURRENT is missing", null);
		}
		if (!hasLog && has(names, OPTIONS)) {
			throw Failures.damaged(directory, "it has no log (*.log), of which each start leaves one", null);
		}
	}

	private static List<String> namesIn(Path directory) {
		try (Stream<Path> files = Files.list(directory)) {
			return files.map(file -> file.getFileName().toString()).toList();
		}
		catch (IOException | UncheckedIOException ex) {
			throw new StoreOpenException("The data directory %s cannot be read: %s".formatted(directory, ex),
					"Make it readable for this user, or set kvorum.storage.path to one that is.", ex);
		}
	}

	private static boolean has(List<String> names, Pattern kind) {
		return names.stream().anyMatch(name -> kind.matcher(name).matches());
	}

}
