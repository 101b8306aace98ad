package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import io.kvorum.storage.StoreOpenException;
import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.RocksDB;

/**
 * Loads RocksDB's native library without leaving a copy behind. By default RocksDB
 * unpacks 17 MB into the temporary directory at every start and deletes them only at an
 * orderly exit. Each {@code kill -9} leaves them there.
 */
final class NativeLibrary {

	private static boolean loaded;

	private NativeLibrary() {
	}

	/**
	 * Loads the library, once for each process.
	 * @throws StoreOpenException if the library cannot be unpacked or loaded
	 */
	static synchronized void load() {
		if (!loaded) {
			unpackAndLoad();
			RocksDB.loadLibrary();
			loaded = true;
		}
	}

	private static void unpackAndLoad() {
		try {
			Path directory = Files.createTempDirectory("kvorum-rocksdb");
			NativeLibraryLoader.getInstance().loadLibrary(directory.toString());
			delete(directory);
		}
		catch (IOException | UnsatisfiedLinkError ex) {
			throw new StoreOpenException(
					"RocksDB's native library could not be loaded from the temporary directory %s: %s"
						.formatted(System.getProperty("java.io.tmpdir"), ex.getMessage()),
					"Let -Djava.io.tmpdir name a directory that is writable for this user and not mounted noexec.", ex);
		}
	}

	/**
	 * Deletes the file, which the loaded library no longer needs. On a system that
	 * refuses, it stays until the process ends.
	 */
	private static void delete(Path directory) {
		try (Stream<Path> files = Files.list(directory)) {
			for (Path file : files.toList()) {
				Files.delete(file);
			}
			Files.delete(directory);
		}
		catch (IOException _) {
			directory.toFile().deleteOnExit();
		}
	}

}
