package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/**
 * Files as Kubernetes mounts those of a Secret or a ConfigMap: links that lead through
 * another one, {@code ..data}, which is replaced when the files change, all at once.
 */
public final class MountedFiles {

	private final Path directory;

	private int version;

	private MountedFiles(Path directory) {
		this.directory = directory;
	}

	/**
	 * Mounts files.
	 * @param files what is in them, by their names
	 */
	public static MountedFiles at(Path directory, Map<String, String> files) {
		MountedFiles mounted = new MountedFiles(directory);
		try {
			Files.createDirectories(directory);
			mounted.replace(files);
			for (String name : files.keySet()) {
				Files.createSymbolicLink(mounted.file(name), Path.of("..data", name));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return mounted;
	}

	/** Puts others into the place of all of them. */
	public void replace(Map<String, String> files) {
		try {
			Path next = Files.createDirectory(this.directory.resolve("..%d".formatted(++this.version)));
			for (Map.Entry<String, String> file : files.entrySet()) {
				Files.writeString(next.resolve(file.getKey()), file.getValue());
			}
			Path link = Files.createSymbolicLink(this.directory.resolve("..data_tmp"), next.getFileName());
			Files.move(link, this.directory.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public Path file(String name) {
		return this.directory.resolve(name);
	}

}
