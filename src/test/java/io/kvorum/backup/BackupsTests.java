package io.kvorum.backup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.kvorum.backup.BackupException.Kind;
import io.kvorum.backup.Backups.Listed;
import io.kvorum.testing.SteeredTime;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class BackupsTests {

	@TempDir
	private Path root;

	private final CopiedStore store = new CopiedStore();

	private final BackupNode node = new BackupNode();

	private final SteeredTime time = new SteeredTime();

	private final List<String> told = new ArrayList<>();

	private final BackupEvents events = new BackupEvents() {

		@Override
		public void found(long madeMillis, long bytes) {
			BackupsTests.this.told.add("found " + bytes);
		}

		@Override
		public void foundNone() {
			BackupsTests.this.told.add("found none");
		}

		@Override
		public void made(long madeMillis, long bytes, long nanos) {
			BackupsTests.this.told.add("made " + bytes);
		}

		@Override
		public void failed() {
			BackupsTests.this.told.add("failed");
		}

	};

	@BeforeEach
	void makeStore() throws IOException {
		Files.writeString(Files.createDirectory(this.root.resolve("data")).resolve("000001.log"), "12345");
	}

	private Backups backups(int keep, long minFreeBytes) {
		return new Backups(
				new BackupSettings(directory(), this.root.resolve("data"), keep, minFreeBytes, Integer.MAX_VALUE),
				this.store, this.node, this.time, this.events);
	}

	private Backups backups() {
		return backups(3, 0);
	}

	private Path directory() {
		return this.root.resolve("backups");
	}

	@Test
	void aBackupHasTheFilesAndAManifestThatSaysWhatTheyAre() throws IOException {
		BackupManifest made = backups().create(BackupName.of("one"));

		Path backup = directory().resolve("one");
		assertThat(namesIn(backup)).containsExactly("manifest.json", "store");
		assertThat(namesIn(backup.resolve("store"))).as("without what the engine wrote of itself")
			.containsExactlyElementsOf(this.store.files.keySet());
		assertThat(BackupManifest.read(backup)).isEqualTo(made);
		assertThat(made.made()).isEqualTo("2027-01-15T08:00:00Z");
		assertThat(made.identity()).isEqualTo("0000000000000abc");
		assertThat(made.sequence()).isEqualTo(42);
		assertThat(made.files())
			.contains(new BackedUpFile(CopiedStore.TABLE, 7, Checksums.of("a table".getBytes(StandardCharsets.UTF_8))));
		assertThat(this.told).containsExactly("made " + made.bytes());
	}

	@Test
	void noneIsMadeWhileTheNodesChange() {
		Origin now = BackupNode.A;
		this.store.meanwhile = () -> this.node.origin = () -> new Origin(now.self(), now.nodes(), now.factor(),
				now.layout() + 1, now.version());
		assertThatExceptionOfType(BackupException.class).isThrownBy(() -> backups().create(BackupName.of("one")))
			.withMessageContaining("have changed while the store was copied");
		assertThat(names()).isEmpty();
		assertThat(this.told).containsExactly("failed");
	}

	@Test
	void withoutANameItIsNamedAfterTheTime() {
		assertThat(backups().create(null).name()).isEqualTo("2027-01-15-080000-000");
	}

	@Test
	void theListHasTheNewestFirstAndThoseThatCannotBeReadAtTheEnd() throws IOException {
		backups().create(BackupName.of("b"));
		this.time.pass(Duration.ofSeconds(1));
		backups().create(BackupName.of("a"));
		Files.writeString(Files.createDirectory(directory().resolve("c")).resolve("manifest.json"), "{}");
		Files.createDirectory(directory().resolve("without-a-manifest"));

		assertThat(backups().list()).extracting(listed -> listed.name().text()).containsExactly("a", "b", "c");
		assertThat(backups().list().getLast().problem()).contains("is damaged");
	}

	@Test
	void beyondTheNumberThatIsKeptTheOldestGoes() {
		for (String name : List.of("d", "c", "b", "a")) {
			backups(2, 0).create(BackupName.of(name));
			this.time.pass(Duration.ofSeconds(1));
		}
		assertThat(names()).containsExactly("a", "b");
	}

	@Test
	void theOneThatWasJustMadeStaysWhateverTheClockSaidBefore() {
		this.time.pass(Duration.ofDays(30));
		for (String name : List.of("b", "a")) {
			backups(2, 0).create(BackupName.of(name));
			this.time.pass(Duration.ofSeconds(1));
		}
		this.time.pass(Duration.ofDays(-30));
		backups(2, 0).create(BackupName.of("now"));

		assertThat(names()).containsExactlyInAnyOrder("now", "a");
	}

	@Test
	void theNewestThatIsFitForAWholeClusterStays() {
		for (String name : List.of("e", "d", "c", "b", "a")) {
			this.node.converged = List.of("e", "d").contains(name);
			backups(2, 0).create(BackupName.of(name));
			this.time.pass(Duration.ofSeconds(1));
		}
		assertThat(names()).containsExactly("a", "b", "d");
	}

	@Test
	void aBackupThatFailsRemovesNoneAndLeavesNothing() throws IOException {
		backups(1, 0).create(BackupName.of("good"));
		this.store.damage = "a block is damaged";

		assertRefused(Kind.FAILED, () -> backups(1, 0).create(BackupName.of("bad")));
		assertThat(namesIn(directory())).containsExactly(".lock", "good");
		assertThat(this.told).endsWith("failed");
	}

	@Test
	void anEndInTheMiddleLeavesWhatIsNoBackupAndTheNextStartRemoves() throws IOException {
		this.store.meanwhile = () -> {
			try {
				assertThat(namesIn(directory())).containsExactly(".lock", "one.partial");
				assertThat(names()).isEmpty();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			throw new StackOverflowError("the end of the process");
		};
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> backups().create(BackupName.of("one")));
		assertThat(namesIn(directory())).containsExactly(".lock", "one.partial");

		backups().tidy();
		assertThat(namesIn(directory())).containsExactly(".lock");
	}

	@Test
	void theNewestIsToldAtTheStart() {
		backups().create(BackupName.of("one"));
		this.told.clear();
		backups().tidy();
		assertThat(this.told).singleElement().asString().startsWith("found ");
	}

	@Test
	void onceOneIsRemovedTheNewestOfThoseThatAreLeftIsTold() {
		this.store.files.put("000020.sst", "more");
		BackupManifest older = backups().create(BackupName.of("older"));
		this.time.pass(Duration.ofSeconds(1));
		this.store.files.remove("000020.sst");
		backups().create(BackupName.of("newer"));

		backups().remove(BackupName.of("newer"));
		assertThat(this.told).endsWith("found " + older.bytes());
		backups().remove(BackupName.of("older"));
		assertThat(this.told).endsWith("found none");
	}

	@Test
	void aBackupThatIsMadeIsToldAsMadeThoughThoseOfBeforeCannotBeListed() {
		this.node.origin = () -> {
			if (Files.exists(directory().resolve("one"))) {
				throw new BackupException(Kind.FAILED, "The directory cannot be read.");
			}
			return BackupNode.A;
		};
		BackupManifest made = backups().create(BackupName.of("one"));
		assertThat(this.told).containsExactly("made " + made.bytes());
	}

	@Test
	void aDiskThatFailsInTheMiddleOfADirectoryIsToldAsAnyOther() throws IOException {
		IOException failure = new IOException("input/output error");
		try (DirectoryStream<Path> stream = new FailingStream(failure)) {
			assertThatException().isThrownBy(() -> BackupDirectory.allOf(stream)).isSameAs(failure);
		}
	}

	private record FailingStream(IOException failure) implements DirectoryStream<Path> {

		@Override
		public Iterator<Path> iterator() {
			throw new DirectoryIteratorException(this.failure);
		}

		@Override
		public void close() {
		}

	}

	@Test
	void theTablesThatTheEngineReadsAreReadNoFasterThanTheyMay() throws InterruptedException {
		this.store.tableBytes = Long.MAX_VALUE / 4;
		Thread maker = Thread.ofPlatform().start(() -> backups().create(BackupName.of("one")));
		while (maker.getState() != Thread.State.TIMED_WAITING) {
			assertThat(maker.isAlive()).isTrue();
			Thread.onSpinWait();
		}
		assertThat(names()).isEmpty();
		this.store.damage = "it has waited for years";
		LockSupport.unpark(maker);
		maker.join();
		assertThat(this.told).containsExactly("failed");
	}

	@Test
	void aLinkIsNoBackupIsNotFollowedAndItsNameIsTaken() throws IOException {
		backups().create(BackupName.of("one"));
		Path outside = Files.createDirectory(this.root.resolve("outside"));
		Files.move(directory().resolve("one"), outside.resolve("one"));
		Files.createSymbolicLink(directory().resolve("link"), outside.resolve("one"));
		Files.createSymbolicLink(directory().resolve("left.partial"), outside);

		assertThat(names()).isEmpty();
		assertRefused(Kind.NOT_FOUND, () -> backups().verify(BackupName.of("link")));
		assertRefused(Kind.NOT_FOUND, () -> backups().remove(BackupName.of("link")));
		assertRefused(Kind.EXISTS, () -> backups().create(BackupName.of("link")));
		backups().tidy();
		assertThat(namesIn(directory())).containsExactly(".lock", "link");
		assertThat(namesIn(outside)).containsExactly("one");
	}

	@Test
	void aLinkInTheFilesOfABackupIsFoundAndWhatItNamesIsNotRemoved() throws IOException {
		backups().create(BackupName.of("one"));
		Path table = directory().resolve("one").resolve("store").resolve(CopiedStore.TABLE);
		Path outside = Files.move(table, this.root.resolve("outside"));
		Files.createSymbolicLink(table, outside);

		assertThat(backups().verify(BackupName.of("one")).problem()).contains(CopiedStore.TABLE, "is missing");
		backups().remove(BackupName.of("one"));
		assertThat(outside).hasContent("a table");
	}

	@Test
	void aByteThatIsNotWhatWasWrittenIsFound() throws IOException {
		backups().create(BackupName.of("one"));
		assertThat(backups().verify(BackupName.of("one")).problem()).isNull();

		Files.writeString(directory().resolve("one").resolve("store").resolve(CopiedStore.TABLE), "A table");
		Listed found = backups().verify(BackupName.of("one"));
		assertThat(found.problem()).contains(CopiedStore.TABLE, "is not what was written");
	}

	@Test
	void aNodeThatMayLackSomethingMakesNone() {
		this.node.doubt = "it is being rebuilt";
		assertRefused(Kind.WITHOUT_VOTE, () -> backups().create(BackupName.of("one")));
		assertThat(names()).isEmpty();
	}

	@Test
	void withTooLittleSpaceThereIsNone() throws IOException {
		assertRefused(Kind.NO_SPACE, () -> backups(3, Long.MAX_VALUE / 2).create(BackupName.of("one")));
		assertThat(namesIn(directory())).containsExactly(".lock");
	}

	@Test
	void aNameThatIsTakenIsRefusedAndNothingChanges() {
		BackupManifest made = backups().create(BackupName.of("one"));
		this.time.pass(Duration.ofSeconds(1));
		assertRefused(Kind.EXISTS, () -> backups().create(BackupName.of("one")));
		assertThat(BackupManifest.read(directory().resolve("one"))).isEqualTo(made);
		assertThat(this.told).as("there is one of that name").doesNotContain("failed");
	}

	@Test
	void aDirectoryThatAnotherProcessUsesIsLeftAlone() throws IOException {
		try (FileChannel _ = new BackupDirectory(directory()).lock()) {
			assertRefused(Kind.BUSY, () -> backups().create(BackupName.of("one")));
		}
		assertThat(this.told).as("there is none").containsExactly("failed");
		assertThat(backups().create(BackupName.of("one")).name()).isEqualTo("one");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ".", "..", "../x", "a/b", "/etc", "a\\b", "-a", "A", "a.partial", "\u00e9", "a b",
			"a\n", "a\0", "0123456789012345678901234567890123456789012345678901234567890123" })
	void aNameThatMeansSomethingToAFileSystemIsNone(String name) {
		assertRefused(Kind.BAD_NAME, () -> BackupName.of(name));
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "0", "a-", "012345678901234567890123456789012345678901234567890123456789012" })
	void otherNamesAre(String name) {
		assertThat(BackupName.of(name).text()).isEqualTo(name);
	}

	private List<String> names() {
		return backups().list().stream().map(listed -> listed.name().text()).toList();
	}

	private static List<String> namesIn(Path directory) throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.map(file -> String.valueOf(file.getFileName())).sorted().toList();
		}
	}

	private static void assertRefused(Kind kind, ThrowingCallable work) {
		assertThatExceptionOfType(BackupException.class).isThrownBy(work)
			.satisfies(ex -> assertThat(ex.kind()).isEqualTo(kind));
	}

}
