package io.kvorum.test;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

@DisabledOnOs(OS.WINDOWS)
class ChildTests {

	@TempDir
	private Path directory = Path.of("");

	@Test
	void aChildDiesWithAJvmThatIsKilledBySigkill() throws Exception {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		Process parent = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Parent.class.getName(),
				this.directory.toString())
			.start();
		long pid = Long.parseLong(parent.inputReader().readLine());
		ProcessHandle child = ProcessHandle.of(pid).orElseThrow();
		assertThat(child.isAlive()).isTrue();
		parent.destroyForcibly().waitFor();
		child.onExit().get(20, TimeUnit.SECONDS);
	}

	@Test
	void theLogHasTheLastLines() {
		NodeLog log = new NodeLog(this.directory.resolve("child.log"));
		Child child = Child.start(List.of("seq", "1000"), this.directory, log.file());
		assertThat(child.endsWithin(Duration.ofSeconds(20))).isTrue();
		assertThat(child.exitCode()).isZero();
		assertThat(log.tail()).contains("child.log").endsWith("  1000").contains("  941").doesNotContain("  940");
	}

	/** Starts a child and waits to be killed. */
	static final class Parent {

		private Parent() {
		}

		public static void main(String[] args) throws InterruptedException {
			Path directory = Path.of(args[0]);
			Child.start(List.of("sleep", "600"), directory, directory.resolve("child.log"));
			ProcessHandle.current()
				.children()
				.filter((child) -> child.info().command().orElse("").endsWith("sleep"))
				.forEach((child) -> System.out.println(child.pid()));
			new CountDownLatch(1).await();
		}

	}

}
