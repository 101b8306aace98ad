package io.kvorum.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Arrays;
import java.util.Map;

import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Mixin;
import tools.jackson.core.JacksonException;

/** The command {@code kvorum}. */
@Command(name = "kvorum", mixinStandardHelpOptions = true, sortOptions = false, versionProvider = Version.class,
		synopsisSubcommandLabel = "COMMAND", description = "Uses a Kvorum cluster from the command line.",
		subcommands = { GetCommand.class, PutCommand.class, DeleteCommand.class, StatCommand.class, ListCommand.class,
				StatusCommand.class, WhereCommand.class, LayoutCommand.class, BackupCommand.class, RepairCommand.class,
				BenchCommand.class, SchemaCommand.class, MigrateCommand.class, HelpCommand.class,
				GenerateCompletion.class },
		exitCodeListHeading = "%nExit codes:%n",
		exitCodeList = { "0:done", "1:the answer is no: no such key, a condition does not hold, a node is away",
				"2:the command or the request is wrong, or the API key has no right to it",
				"3:failed, and nothing was done: try again", "4:failed, and a write may have happened" },
		footerHeading = "%nExamples:%n",
		footer = { "  export KVORUM_URL=http://kvorum-0:8080,http://kvorum-1:8080", "  kvorum put greeting hello",
				"  kvorum get greeting", "  tar c dir | kvorum put backup/dir.tar --content-type application/x-tar",
				"  kvorum ls backup/ -l", "  kvorum status || echo 'a node is away'",
				"  source <(kvorum generate-completion)", "",
				"'kvorum help COMMAND' has the options of a command, and examples." })
public final class Kvorum {

	/**
	 * Set where a script without a shell starts the JVM: its name is then the first
	 * argument.
	 */
	private static final String NAMED = "kvorum.cli.named";

	/**
	 * Stands for bytes that the locale has no character for: different keys would meet.
	 */
	private static final char REPLACEMENT = '\ufffd';

	@Mixin
	private final ServerOptions options;

	Kvorum() {
		this(new ServerOptions(System.getenv()));
	}

	private Kvorum(ServerOptions options) {
		this.options = options;
	}

	ServerOptions options() {
		return this.options;
	}

	public static void main(String[] arguments) {
		for (String argument : arguments) {
			if (argument.indexOf(REPLACEMENT) >= 0) {
				System.err.println("kvorum: an argument is not in the encoding of the locale: set LC_ALL=C.UTF-8");
				System.exit(ExitCode.WRONG.code());
			}
		}
		String[] given = Boolean.getBoolean(NAMED) ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
		System.exit(commandLine().execute(given));
	}

	private static String message(Exception failure) {
		String message = failure.getMessage();
		return switch (failure) {
			case FileSystemException _ -> "cannot use the file: " + failure;
			case JacksonException json -> "an answer is no JSON: " + json.getOriginalMessage();
			default -> (message != null) ? message : failure.toString();
		};
	}

	static CommandLine commandLine() {
		return commandLine(System.getenv());
	}

	/** The command line in an environment. */
	static CommandLine commandLine(Map<String, String> environment) {
		CommandLine line = new CommandLine(new Kvorum(new ServerOptions(environment)));
		// A key or a value may begin with @.
		line.setExpandAtFiles(false);
		line.setExecutionExceptionHandler((failure, command, _) -> {
			ExitCode code = switch (failure) {
				case CommandFailedException failed -> failed.exitCode();
				case FileSystemException _ -> ExitCode.WRONG;
				case FileNotFoundException _ -> ExitCode.WRONG;
				case IllegalArgumentException _ -> ExitCode.WRONG;
				// An answer breaks off or is no JSON, or the output is not taken.
				case IOException _ -> ExitCode.NOT_DONE;
				case JacksonException _ -> ExitCode.NOT_DONE;
				default -> {
					// A fault of this program, which is mended by its stack.
					failure.printStackTrace(command.getErr());
					yield ExitCode.UNKNOWN;
				}
			};
			command.getErr().println("kvorum: " + Table.printable(message(failure)));
			return code.code();
		});
		return line;
	}

}
