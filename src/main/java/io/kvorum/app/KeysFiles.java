package io.kvorum.app;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import io.kvorum.access.KeysFile;
import io.kvorum.access.KeysFileException;

/** Reads files of API keys from the disk. */
final class KeysFiles {

	private KeysFiles() {
	}

	/**
	 * Reads a file, following links, up to one byte beyond {@link KeysFile#MAX_BYTES}.
	 * @throws KeysFileException if it cannot be read
	 */
	static byte[] read(Path path) {
		try (InputStream in = Files.newInputStream(path)) {
			return in.readNBytes(KeysFile.MAX_BYTES + 1);
		}
		catch (NoSuchFileException _) {
			throw new KeysFileException("there is no such file");
		}
		catch (IOException ex) {
			throw new KeysFileException("it cannot be read: " + ex);
		}
	}

}
