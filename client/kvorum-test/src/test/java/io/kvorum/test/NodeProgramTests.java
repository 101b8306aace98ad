package io.kvorum.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

class NodeProgramTests {

	@TempDir
	private Path directory;

	private List<String> command() {
		return new NodeProgram(Path.of("java"), this.directory.resolve("kvorum.jar"), List.of("-Xmx512m"),
				Map.of("kvorum.api.max-value-size", "2MB"))
			.command(Path.of("tmp"), Map.of("server.port", "8080", "kvorum.api.max-value-size", "1MB"));
	}

	@Test
	void whatIsChosenWinsOverWhatIsUsual() {
		assertThat(command()).startsWith("java", "-Djava.io.tmpdir=tmp", "-Xmx192m")
			.containsSubsequence("-Xmx192m", "-Xmx512m", "-jar", this.directory.resolve("kvorum.jar").toString())
			.contains("--server.port=8080", "--kvorum.api.max-value-size=2MB")
			.doesNotContain("--kvorum.api.max-value-size=1MB");
	}

	@Test
	void aCacheBesideTheJarIsUsed() throws IOException {
		assertThat(command()).noneMatch(option -> option.startsWith("-XX:AOTCache"));
		Path cache = Files.createFile(this.directory.resolve("kvorum.aot"));
		assertThat(command()).containsSubsequence("-XX:AOTCache=" + cache, "-Xmx512m", "-jar");
	}

}
