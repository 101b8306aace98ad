package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** What happens to the files of a store behind its back. */
final class Disk {

	private Disk() {
	}

	/**
	 * The files as they are, in another directory: what a node finds after its process
	 * was killed now.
	 */
	static Path asAfterAKill(Path directory, Path to) {
		try {
			Files.createDirectories(to);
			for (Path file : files(directory, "")) {
				Files.copy(file, to.resolve(file.getFileName()));
			}
			return to;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The files with this suffix. */
	static List<Path> files(Path directory, String suffix) {
		try (Stream<Path> files = Files.list(directory)) {
			return files.filter(Files::isRegularFile).filter(file -> file.toString().endsWith(suffix)).toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static Path largest(Path directory, String suffix) {
		return files(directory, suffix).stream().max(Comparator.comparingLong(Disk::size)).orElseThrow();
	}

	static long size(Path file) {
		try {
			return Files.size(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static void flipBit(Path file, long offset) {
		change(file, bytes -> {
			bytes[(int) offset] ^= 1;
			return bytes;
		});
	}

	static void truncate(Path file, long length) {
		change(file, bytes -> Arrays.copyOf(bytes, (int) length));
	}

	private static void change(Path file, UnaryOperator<byte[]> change) {
		try {
			Files.write(file, change.apply(Files.readAllBytes(file)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
