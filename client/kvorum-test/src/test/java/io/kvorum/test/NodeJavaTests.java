package io.kvorum.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The JDKs here are scripts that know a version. */
@DisabledOnOs(OS.WINDOWS)
class NodeJavaTests {

	@TempDir
	private Path directory = Path.of("");

	@Test
	void theBuilderNamesAnExecutableOrAHome() throws IOException {
		Path home = jdk("25.0.1");
		Path java = home.resolve("bin/java");
		assertThat(NodeJava.find(home, Map.of(), this.directory)).isEqualTo(java);
		assertThat(NodeJava.find(java, Map.of(), this.directory)).isEqualTo(java);
	}

	@Test
	void aNamedJavaThatIsTooOldIsAnErrorThoughAnotherOneIsThere() throws IOException {
		Path old = jdk("21.0.4");
		jdk("25");
		assertThatIllegalStateException()
			.isThrownBy(() -> NodeJava.find(null, Map.of(NodeJava.VARIABLE, old.toString()), this.directory))
			.withMessageContainingAll("Java 25", NodeJava.VARIABLE, "version 21");
	}

	@Test
	void variablesThatNameAVersionComeFirstAndOldOnesAreNotAsked() throws IOException {
		Map<String, String> environment = Map.of("JAVA_HOME_17_X64", jdk("17").toString(), "JAVA_HOME_26_ARM64",
				jdk("26-ea").toString(), "JAVA_HOME_27_X64", jdk("24").toString());
		assertThat(NodeJava.find(null, environment, this.directory))
			.isEqualTo(this.directory.resolve("jdk-26-ea/bin/java"));
	}

	@Test
	void aJavaWithoutAFileReleaseIsAskedForItsVersion() throws IOException {
		Path home = jdk("25.0.2");
		Files.delete(home.resolve("release"));
		assertThat(NodeJava.find(home, Map.of(), this.directory)).isEqualTo(home.resolve("bin/java"));
	}

	@Test
	void thisMachineHasAJavaForNodes() {
		assertThat(NodeJava.find(null)).isExecutable();
	}

	private Path jdk(String version) throws IOException {
		Path home = this.directory.toAbsolutePath().resolve("jdk-" + version);
		Files.createDirectories(home.resolve("bin"));
		Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"%s\"\n".formatted(version));
		Path java = Files.writeString(home.resolve("bin/java"),
				"#!/bin/sh\necho 'openjdk version \"%s\" 2026-01-20' >&2\n".formatted(version));
		assertThat(java.toFile().setExecutable(true)).isTrue();
		return home;
	}

}
