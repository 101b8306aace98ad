package io.kvorum.client;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Finds changes of the public API, as javap prints it. A line that is gone or another one
 * breaks programs that were compiled with an earlier version.
 * {@code -Dkvorum.client.api=write} takes a change over.
 */
class PublicApiTests {

	private static final Path API = Path.of("src", "main", "api", "kvorum-client.txt");

	@Test
	void theApiIsTheOneThatWasAgreedOn() throws IOException, URISyntaxException {
		String api = api();
		if ("write".equals(System.getProperty("kvorum.client.api"))) {
			Files.createDirectories(API.getParent());
			Files.writeString(API, api);
		}
		assertThat(api).isEqualTo(Files.readString(API));
	}

	private static String api() throws IOException, URISyntaxException {
		Path classes = Path.of(KvorumClient.class.getProtectionDomain().getCodeSource().getLocation().toURI());
		try (Stream<Path> files = Files.walk(classes)) {
			String[] args = Stream
				.concat(Stream.of("-protected"),
						files.filter(file -> file.toString().endsWith(".class")).sorted().map(Path::toString))
				.toArray(String[]::new);
			StringWriter printed = new StringWriter();
			StringWriter errors = new StringWriter();
			int code = ToolProvider.findFirst("javap")
				.orElseThrow()
				.run(new PrintWriter(printed), new PrintWriter(errors), args);
			assertThat(code).as("%s", errors).isZero();
			return Arrays.stream(printed.toString().split("(?<=\n\\})\n", -1))
				.map(text -> text.lines().filter(line -> !line.startsWith("Compiled from")).toList())
				.filter(lines -> !lines.isEmpty() && lines.get(0).startsWith("public "))
				.map(lines -> String.join("\n", lines))
				.collect(Collectors.joining("\n", "", "\n"));
		}
	}

}
