package io.kvorum.testing;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/** What a node prints: kept in a file, and watched line by line as it comes. */
final class NodeLog {

	private static final int TAIL_LINES = 60;

	private final Path file;

	private final List<String> lines = new ArrayList<>();

	private boolean ended;

	private NodeLog(Path file) {
		this.file = file;
	}

	static NodeLog of(InputStream output, Path file) {
		NodeLog log = new NodeLog(file);
		// Not a virtual thread: to read from a pipe holds up the one of the machine's few
		// that carries it.
		Thread.ofPlatform().daemon().name("log of " + file.getFileName()).start(() -> log.copy(output));
		return log;
	}

	private void copy(InputStream output) {
		try (BufferedReader reader = new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8));
				BufferedWriter writer = Files.newBufferedWriter(this.file)) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				writer.write(line);
				writer.newLine();
				add(line);
			}
		}
		catch (IOException ex) {
			add("(the log ends here: " + ex + ")");
		}
		finally {
			end();
		}
	}

	private synchronized void add(String line) {
		this.lines.add(line);
		notifyAll();
	}

	private synchronized void end() {
		this.ended = true;
		notifyAll();
	}

	/**
	 * The first line that has the pattern, or null where the output ended or the time was
	 * over before it came.
	 */
	synchronized @Nullable Matcher await(Pattern pattern, Duration within) throws InterruptedException {
		long deadline = System.nanoTime() + within.toNanos();
		for (int next = 0;; next++) {
			while (next == this.lines.size()) {
				long leftMillis = (deadline - System.nanoTime()) / 1_000_000;
				if (this.ended || leftMillis <= 0) {
					return null;
				}
				wait(leftMillis);
			}
			Matcher matcher = pattern.matcher(this.lines.get(next));
			if (matcher.find()) {
				return matcher;
			}
		}
	}

	/**
	 * Everything that was printed; waits for the last line of a process that has ended.
	 */
	synchronized String whole(Duration within) throws InterruptedException {
		long deadline = System.nanoTime() + within.toNanos();
		while (!this.ended && System.nanoTime() < deadline) {
			wait(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
		}
		return String.join("\n", this.lines);
	}

	synchronized String soFar() {
		return String.join("\n", this.lines);
	}

	synchronized String tail() {
		int from = Math.max(0, this.lines.size() - TAIL_LINES);
		return this.file + ", its last lines:\n  " + String.join("\n  ", this.lines.subList(from, this.lines.size()));
	}

	static Path createFile(Path directory, String name) {
		try {
			Files.createDirectories(directory);
			return directory.resolve(name);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
