package io.kvorum.app;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.kvorum.access.AccessControl;
import io.kvorum.access.AccessEvents;
import io.kvorum.access.Denial;
import io.kvorum.access.DeniedException;
import io.kvorum.access.KeysFile;
import io.kvorum.clock.TimeSource;
import io.kvorum.testing.ApiKeys;
import io.kvorum.testing.MountedFiles;
import io.kvorum.testing.Poll;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** Keys follow their file, which is looked at when a test says so. */
@ExtendWith(OutputCaptureExtension.class)
class KeysWatchTests implements AccessEvents {

	private static final String METRICS = "\"actuator\":[\"metrics\"]";

	private final SteeredTime time = new SteeredTime();

	private final List<Boolean> reloads = new ArrayList<>();

	@TempDir
	Path directory = Path.of("");

	private Path file = Path.of("");

	private AccessControl control = AccessControl.off(this.time);

	private KeysWatch watch = new KeysWatch(null, new byte[0], Duration.ofSeconds(1), this.control, this.time, this);

	@BeforeEach
	void begin() throws IOException {
		this.file = this.directory.resolve("keys.json");
		byte[] content = ApiKeys.content(ApiKeys.entry("a", METRICS));
		Files.write(this.file, content);
		this.control = AccessControl.by(KeysFile.read(content, 0), this.time);
		this.watch = new KeysWatch(this.file, content, Duration.ofSeconds(1), this.control, this.time, this);
	}

	@Override
	public void denied(Denial why) {
	}

	@Override
	public void reloaded(boolean usable) {
		this.reloads.add(usable);
	}

	private boolean isLetIn(String key) {
		try {
			return this.control.admit(List.of(ApiKeys.bearer(key))).id().equals(key);
		}
		catch (DeniedException _) {
			return false;
		}
	}

	private void write(String content) throws IOException {
		Files.writeString(this.file, content);
	}

	@Test
	void aFileThatIsAsItWasIsNotReadAgain() {
		this.watch.look(this.file);

		assertThat(this.reloads).isEmpty();
		assertThat(isLetIn("a")).isTrue();
	}

	@Test
	void newKeysAreInUseAtTheNextLook() throws IOException {
		Files.write(this.file, ApiKeys.content(ApiKeys.entry("b", METRICS)));
		this.watch.look(this.file);

		assertThat(isLetIn("a")).isFalse();
		assertThat(isLetIn("b")).isTrue();
		assertThat(this.reloads).containsExactly(true);
	}

	@Test
	void theLogSaysHowManyKeysAreInUse(CapturedOutput output) throws IOException {
		write(ApiKeys.text(ApiKeys.entry("b", METRICS)));
		this.watch.look(this.file);

		assertThat(output).contains("The API keys were read from %s; keys in use: 1".formatted(this.file));
	}

	/** As Kubernetes changes a secret: the name leads through a link that is replaced. */
	@Test
	void aLinkThatLeadsElsewhereIsFollowed() throws IOException {
		MountedFiles mounted = MountedFiles.at(this.directory.resolve("mounted"),
				Map.of("keys.json", ApiKeys.text(ApiKeys.entry("a", METRICS))));
		this.watch.look(mounted.file("keys.json"));
		assertThat(isLetIn("a")).isTrue();

		mounted.replace(Map.of("keys.json", ApiKeys.text(ApiKeys.entry("b", METRICS))));
		this.watch.look(mounted.file("keys.json"));
		assertThat(isLetIn("b")).isTrue();
		assertThat(isLetIn("a")).isFalse();
	}

	@Test
	void aBrokenFileLeavesTheKeysAndIsToldOnce(CapturedOutput output) throws IOException {
		write("{\"keys\":[{\"id\":\"my-secret.in-the-wrong-place\"}]}");
		this.watch.look(this.file);
		this.time.pass(Duration.ofSeconds(7));
		this.watch.look(this.file);

		assertThat(isLetIn("a")).isTrue();
		assertThat(this.reloads).containsExactly(false);
		assertThat(this.control.staleSeconds()).isEqualTo(7);
		assertThat(output.getAll()).containsOnlyOnce("cannot be used; the previous 1 keys stay in force")
			.contains("keys[0].id: must be 1 to 64 letters", "keys[0].sha256")
			.doesNotContain("my-secret");
	}

	@Test
	void aFileThatIsGoneOrTooLargeIsABrokenOne() throws IOException {
		Files.delete(this.file);
		this.watch.look(this.file);
		assertThat(this.control.state().trouble()).isEqualTo("there is no such file");
		write(" ".repeat(KeysFile.MAX_BYTES + 1));
		this.watch.look(this.file);
		assertThat(this.control.state().trouble()).contains("more than 1048576 bytes");
		Files.delete(this.file);
		Files.createDirectory(this.file);
		this.watch.look(this.file);
		assertThat(this.control.state().trouble()).contains("cannot be read");
		assertThat(isLetIn("a")).isTrue();
		assertThat(this.reloads).containsExactly(false, false, false);
	}

	/** A pipe that no one writes to is as silent as a file system that hangs. */
	@Test
	void aFileSystemThatHangsIsNoticedAndForgottenOnceItAnswers() throws Exception {
		Path pipe = this.directory.resolve("pipe");
		assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
		Thread looking = Thread.ofPlatform().start(() -> this.watch.look(pipe));
		Poll.until(() -> "the hang is noticed", Duration.ofSeconds(30), () -> {
			this.time.pass(Duration.ofSeconds(31));
			this.watch.noticeHang();
			return this.control.state().trouble() != null;
		});
		assertThat(this.control.state().trouble()).contains("more than 30 s");
		assertThat(isLetIn("a")).isTrue();

		Files.write(pipe, Files.readAllBytes(this.file));
		looking.join();
		assertThat(this.control.state().trouble()).isNull();
		this.time.pass(Duration.ofSeconds(31));
		this.watch.noticeHang();
		assertThat(this.control.state().trouble()).isNull();
	}

	@Test
	void whatWasBrokenAndIsAsItWasIsInOrder() throws IOException {
		byte[] good = Files.readAllBytes(this.file);
		write("{");
		this.watch.look(this.file);
		Files.write(this.file, good);
		this.watch.look(this.file);

		assertThat(this.control.state().trouble()).isNull();
		assertThat(this.control.staleSeconds()).isZero();
		assertThat(this.reloads).containsExactly(false, true);
	}

	@Test
	void anErrorThatNobodyExpectedIsToldOnceWithItsStack(CapturedOutput output) {
		KeysWatch failing = new KeysWatch(this.file, new byte[0], Duration.ofSeconds(1), this.control,
				new BrokenClock(), this);
		failing.look(this.file);
		failing.look(this.file);

		assertThat(isLetIn("a")).isTrue();
		assertThat(this.reloads).containsExactly(false);
		assertThat(this.control.state().trouble()).contains("UnsupportedOperationException");
		assertThat(output.getAll()).containsOnlyOnce("the previous 1 keys stay in force")
			.containsOnlyOnce("it has stopped");
	}

	private static final class BrokenClock implements TimeSource {

		@Override
		public long millis() {
			throw new UnsupportedOperationException("it has stopped");
		}

		@Override
		public long nanos() {
			throw new UnsupportedOperationException("it has stopped");
		}

	}

	@Test
	void aFileThatCannotBeUsedStopsTheStart(CapturedOutput output) throws IOException {
		write("{\"keys\":[{\"id\":\"a b\",\"sha256\":\"00\",\"actuator\":[]}]}");
		assertRefused("--kvorum.access.keys-file=" + this.file);

		assertThat(output.getAll())
			.contains("The API keys in " + this.file + " (kvorum.access.keys-file) cannot be used:",
					"keys[0].id: must be", "keys[0].sha256: must be", "keys[0].actuator: must be",
					"Each key has an 'id', the 'sha256' of its secret", "operations.md")
			.doesNotContain("\tat ", "src/main");
	}

	@Test
	void aPropertyWithoutAValueStopsTheStartToo(CapturedOutput output) {
		assertRefused("--kvorum.access.keys-file=");

		assertThat(output.getAll()).contains("kvorum.access.keys-file is set, and its value is empty")
			.doesNotContain("The API keys in");
	}

	private void assertRefused(String argument) {
		assertThatException().isThrownBy(() -> SpringApplication.run(KvorumApplication.class, "--server.port=0",
				"--kvorum.storage.path=" + this.directory.resolve("data"), argument));
	}

	@Test
	void theLinesOfAFileAreWhatTheScriptWrites() throws Exception {
		Process script = new ProcessBuilder("src/main/scripts/new-api-key", "reports", "--rule", "read,range:reports/",
				"--rule", "write:", "--actuator", "metrics", "--rate", "5/10", "--days", "9")
			.start();
		String entry = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		String told = new String(script.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(script.waitFor()).isZero();
		String key = told.substring(told.lastIndexOf(' ') + 1).strip();
		write("{\"keys\":[%s]}".formatted(entry));
		this.watch.look(this.file);

		assertThat(this.control.state().trouble()).isNull();
		assertThat(entry).doesNotContain(key.substring(key.indexOf('.') + 1));
		this.time.jump(Duration.ofMillis(System.currentTimeMillis() - this.time.millis()));
		assertThat(this.control.admit(List.of("Bearer " + key)).id()).isEqualTo("reports");
	}

}
