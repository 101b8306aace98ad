package io.kvorum.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

class DirectoriesTests {

	@TempDir
	private Path project = Path.of("");

	@Test
	void aClusterIsWhereTheBuildPutsItsFilesOrElseInTheTemporaryDirectory() throws IOException {
		assertThat(Directories.usual(this.project))
			.isEqualTo(Path.of(System.getProperty("java.io.tmpdir"), "kvorum-test"));
		Files.createDirectory(this.project.resolve("build"));
		assertThat(Directories.usual(this.project)).isEqualTo(this.project.resolve("build/kvorum-test"));
		Files.createDirectory(this.project.resolve("target"));
		assertThat(Directories.usual(this.project)).isEqualTo(this.project.resolve("target/kvorum-test"));
	}

	@Test
	void eachClusterHasADirectoryOfItsOwnWhichIsDeletedWithAllThatIsInIt() throws IOException {
		Path one = Directories.create(this.project.resolve("new"), "One");
		Path other = Directories.create(this.project.resolve("new"), "One");
		assertThat(one).isNotEqualTo(other);
		Files.writeString(Files.createDirectories(one.resolve("a/b")).resolve("c"), "d");
		Directories.delete(one);
		assertThat(one).doesNotExist();
		assertThat(other).exists();
	}

}
