package io.kvorum.test;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The file to which a node prints. */
final class NodeLog {

	static final int TAIL_LINES = 60;

	private static final int TAIL_BYTES = 64 * 1024;

	private final Path file;

	NodeLog(Path file) {
		this.file = file;
	}

	Path file() {
		return this.file;
	}

	/** The last lines, and where the others are. */
	String tail() {
		List<String> lines = lastBytes().lines().toList();
		return "%s, its last lines:%n  %s".formatted(this.file, String.join(System.lineSeparator() + "  ",
				lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size())));
	}

	private String lastBytes() {
		if (!Files.exists(this.file)) {
			return "";
		}
		try (RandomAccessFile log = new RandomAccessFile(this.file.toFile(), "r")) {
			long from = Math.max(0, log.length() - TAIL_BYTES);
			byte[] bytes = new byte[(int) (log.length() - from)];
			log.seek(from);
			log.readFully(bytes);
			return new String(bytes, StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
