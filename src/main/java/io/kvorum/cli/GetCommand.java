package io.kvorum.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "get", description = "Prints the value of a key, byte for byte.", footerHeading = "%nExamples:%n",
		footer = { "  kvorum get greeting", "  kvorum get backup/dir.tar | tar t",
				"  kvorum get greeting --replicas 1/3    # whatever one of three replicas has" })
final class GetCommand extends RemoteCommand {

	@Parameters(paramLabel = "<key>", description = "the key")
	private String key = "";

	@Option(names = { "-O", "--file" }, paramLabel = "<file>",
			description = "file to write to. Default: standard output")
	private @Nullable Path file;

	@Option(names = "--replicas", paramLabel = "<ack>/<from>",
			description = "how many replicas to wait for, and of how many")
	private @Nullable String replicas;

	@Override
	ExitCode run() throws Exception {
		HttpResponse<InputStream> answer = server().ofEntities()
			.get(Target.entity(this.key).with("replicas", this.replicas).toString());
		try (InputStream value = answer.body()) {
			write(value);
		}
		return ExitCode.DONE;
	}

	private void write(InputStream value) throws IOException {
		if (this.file == null) {
			// Not System.out, which keeps its failures to itself.
			try (OutputStream out = new FileOutputStream(FileDescriptor.out)) {
				value.transferTo(out);
			}
		}
		else if (Files.exists(this.file) && !Files.isRegularFile(this.file)) {
			try (OutputStream out = Files.newOutputStream(this.file)) {
				value.transferTo(out);
			}
		}
		else {
			// A link stays, and what it points to is replaced.
			writeWhole(value, Files.exists(this.file) ? this.file.toRealPath() : this.file.toAbsolutePath());
		}
	}

	/** What is there stays if the value does not come whole. */
	private static void writeWhole(InputStream value, Path file) throws IOException {
		Path whole = Files.createTempFile(file.getParent(), ".kvorum", null);
		try {
			PosixFileAttributeView replaced = Files.exists(file)
					? Files.getFileAttributeView(file, PosixFileAttributeView.class) : null;
			if (replaced == null) {
				// A new file gets the usual permissions, not those of temporary ones.
				Files.delete(whole);
			}
			try (OutputStream out = Files.newOutputStream(whole)) {
				value.transferTo(out);
			}
			if (replaced != null) {
				Files.setPosixFilePermissions(whole, replaced.readAttributes().permissions());
			}
			Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING);
		}
		finally {
			Files.deleteIfExists(whole);
		}
	}

}
