package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The command line as people run it: the script, with the jar of the build.
 *
 * @param output what it has written to its standard output
 * @param errors what it has written to its standard error
 */
public record CommandLine(int exitCode, Output output, String errors) {

	private static final Path SCRIPT = Path.of("src", "main", "scripts", "kvorum").toAbsolutePath();

	/** The bytes that a command has written. */
	public static final class Output {

		private final byte[] bytes;

		Output(byte[] bytes) {
			this.bytes = bytes;
		}

		public byte[] bytes() {
			return this.bytes;
		}

	}

	/** Runs a command with this on its standard input, and waits for its end. */
	public static CommandLine run(byte[] input, String... arguments) throws InterruptedException {
		try {
			ProcessBuilder command = new ProcessBuilder(
					Stream.concat(Stream.of(SCRIPT.toString()), List.of(arguments).stream()).toList());
			command.environment().put("JAVA_HOME", System.getProperty("java.home"));
			command.environment().keySet().removeIf(name -> name.startsWith("KVORUM_"));
			// In target: see the pom.
			Path errors = Files.createTempFile("command-line", ".log");
			Process process = command.redirectError(errors.toFile()).start();
			process.getOutputStream().write(input);
			process.getOutputStream().close();
			byte[] output = process.getInputStream().readAllBytes();
			int exitCode = process.waitFor();
			String written = Files.readString(errors);
			Files.delete(errors);
			return new CommandLine(exitCode, new Output(output), written);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** What it has written to its standard output, as text. */
	public String printed() {
		return new String(this.output.bytes(), StandardCharsets.UTF_8);
	}

}
