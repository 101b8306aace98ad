package io.kvorum.backup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.kvorum.storage.StoreOpenException;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Each test has a good backup, "one", of node A, and an empty place for a store. */
@ExtendWith(OutputCaptureExtension.class)
class RestoreTests {

	@TempDir
	private Path root;

	private final CopiedStore checkpoints = new CopiedStore();

	private final SteeredTime time = new SteeredTime();

	@BeforeEach
	void makeBackup() throws IOException {
		Path old = Files.createDirectory(this.root.resolve("old"));
		new Backups(new BackupSettings(this.root.resolve("backups"), old, 3, 0, Integer.MAX_VALUE), this.checkpoints,
				new BackupNode(), this.time, BackupEvents.NONE)
			.create(BackupName.of("one"));
	}

	private Path backup() {
		return this.root.resolve("backups").resolve("one");
	}

	private Path store() {
		return this.root.resolve("store");
	}

	private void restore(@Nullable Path from) {
		restore(from, BackupNode.A, 0);
	}

	private void restore(@Nullable Path from, Origin node, long minFreeBytes) {
		new Restore(new RestoreSettings(store(), from, minFreeBytes, Integer.MAX_VALUE), node, this.checkpoints,
				(recorded, made) -> {
					Map<String, byte[]> records = new HashMap<>(recorded);
					records.put("made", made.toString().getBytes(StandardCharsets.UTF_8));
					return records;
				}, this.time)
			.run();
	}

	@Test
	void theFilesAreCopiedAndMadeTheStoreOfAnotherLifeAndTheBackupStaysAsItIs() throws IOException {
		Map<String, String> before = contentOf(backup());
		restore(backup());

		Map<String, String> restored = contentOf(store());
		assertThat(restored).containsAllEntriesOf(this.checkpoints.files).containsEntry("000014.log", "adopted");
		assertThat(restored).containsKey("RESTORED").hasSize(this.checkpoints.files.size() + 2);
		assertThat(this.checkpoints.adopted).containsOnlyKeys("name", "made");
		assertThat(contentOf(backup())).isEqualTo(before);
		for (String name : this.checkpoints.files.keySet()) {
			assertThat(Files.getAttribute(store().resolve(name), "unix:ino")).as("no link: %s", name)
				.isNotEqualTo(Files.getAttribute(backup().resolve("store").resolve(name), "unix:ino"));
		}
	}

	@Test
	void withoutThePropertyNothingHappens() {
		restore(null);
		assertThat(store()).doesNotExist();
	}

	@Test
	void whatWasRestoredFromItBeforeIsLeftAloneAlsoWhereTheBackupIsGone() throws IOException {
		restore(backup());
		Files.writeString(store().resolve("since"), "then");
		this.checkpoints.adopted = null;
		Map<String, String> before = contentOf(store());

		restore(backup());
		Files.move(backup(), this.root.resolve("moved"));
		restore(backup());
		assertThat(contentOf(store())).isEqualTo(before);
		assertThat(this.checkpoints.adopted).isNull();
	}

	@Test
	void aStoreWithDataIsLeftAlone() throws IOException {
		Files.writeString(Files.createDirectory(store()).resolve("CURRENT"), "MANIFEST-000001");
		assertRefused("has data that was not restored from");
		assertThat(contentOf(store())).containsExactly(Map.entry("CURRENT", "MANIFEST-000001"));
	}

	@Test
	void aNewBackupInThePlaceOfTheOneItWasRestoredFromIsNotRestoredAndThatIsSaid(CapturedOutput output)
			throws IOException {
		restore(backup());
		Map<String, String> before = contentOf(store());
		Files.move(backup(), this.root.resolve("moved"));
		this.checkpoints.files.put("000020.sst", "more");
		makeBackupAgain();
		assertThat(output).doesNotContain("where another backup is now");

		restore(backup());
		assertThat(contentOf(store())).isEqualTo(before);
		assertThat(output).contains("where another backup is now", "Remove kvorum.backup.restore-from");
	}

	@Test
	void whatWasRestoredFromElsewhereIsNotTakenForIt() throws IOException {
		restore(backup());
		Path elsewhere = Files.move(backup(), this.root.resolve("moved"));
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(elsewhere))
			.withMessageContaining("has data that was not restored from");
	}

	private void makeBackupAgain() {
		new Backups(new BackupSettings(this.root.resolve("backups"), this.root.resolve("old"), 3, 0, Integer.MAX_VALUE),
				this.checkpoints, new BackupNode(), this.time, BackupEvents.NONE)
			.create(BackupName.of("one"));
	}

	@Test
	void theRootOfAFileSystemIsEmpty() throws IOException {
		Files.createDirectories(store().resolve("lost+found"));
		restore(backup());
		assertThat(store().resolve("CURRENT")).exists();
	}

	@Test
	void aFlippedByteIsRefusedAndNothingIsLeft() throws IOException {
		Files.writeString(backup().resolve("store").resolve(CopiedStore.TABLE), "A table");
		assertRefused("is not what was written");
		assertThat(contentOf(store())).isEmpty();
	}

	@Test
	void aFileThatIsMissingOrALinkIsRefused() throws IOException {
		Path table = backup().resolve("store").resolve(CopiedStore.TABLE);
		Path moved = Files.move(table, this.root.resolve("moved"));
		assertRefused("is missing");
		Files.createSymbolicLink(table, moved);
		assertRefused("is missing");
		assertThat(contentOf(store())).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "\"sequence\" : 42=\"sequence\" : 43", "\"name\" : \"CURRENT\"=\"name\" : \"../../x\"",
			"\"self\" : =\"slef\" : ", "{=", "\"format\" : 2=\"format\" : 1", "\"format\" : 2=\"format\" : 0" })
	void aManifestThatIsNotWhatWasWrittenIsRefused(String change) throws IOException {
		int at = change.indexOf('=');
		changeManifest(change.substring(0, at), change.substring(at + 1));
		assertRefused("manifest.json is damaged");
		assertThat(contentOf(store())).isEmpty();
	}

	@Test
	void aBackupOfALaterVersionIsRefused() throws IOException {
		changeManifest("\"format\" : 2", "\"format\" : 3");
		assertRefused("was made by a later version: it has format 3, and this version knows formats up to 2");
	}

	private void changeManifest(String from, String to) throws IOException {
		Path file = backup().resolve("manifest.json");
		String before = Files.readString(file);
		assertThat(before).contains(from);
		Files.writeString(file, before.replace(from, to));
	}

	@Test
	void whatIsNoCompleteBackupIsRefused() throws IOException {
		Path partial = Files.move(backup(), this.root.resolve("backups").resolve("one.partial"));
		Files.delete(partial.resolve("manifest.json"));
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(partial))
			.withMessageContaining("is no backup, or no complete one");
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(this.root.resolve("none")))
			.withMessageContaining("is no backup, or no complete one");
	}

	@Test
	void theBackupOfAnotherNodeOrClusterIsRefused() throws IOException {
		List<String> nodes = BackupNode.A.nodes();
		for (Origin other : List.of(new Origin("http://b:1", nodes, 3, 0, "1.0"),
				new Origin("http://a:1", List.of("http://a:1", "http://b:1"), 2, 0, "1.0"), new Origin("http://a:1",
						List.of("http://a:1?zone=x&weight=1", "http://b:1", "http://c:1"), 3, 0, "1.0"),
				new Origin("http://a:1", nodes, 2, 0, "1.0"))) {
			assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(backup(), other, 0))
				.withMessageContaining("is of node http://a:1 of")
				.withMessageContaining(other.describe());
		}
		restore(backup(), new Origin("http://a:1", nodes, 3, 7, "1.1"), 0);
		assertThat(store().resolve("CURRENT")).exists();
	}

	@Test
	void aBackupOfTheFirstFormatHasBareAddressesOfNodes() throws IOException {
		Path backup = backup();
		BackupManifest made = BackupManifest.read(backup);
		Files.write(backup.resolve("manifest.json"),
				new BackupManifest(1, made.name(), made.made(), made.version(), made.identity(), made.self(),
						made.nodes(), made.factor(), null, made.converged(), made.sequence(), made.files(), "")
					.sealed()
					.toJson());

		restore(backup,
				new Origin("http://a:1",
						List.of("http://a:1?zone=x&weight=1", "http://b:1?zone=y&weight=1", "http://c:1"), 3, 0, "1.0"),
				0);
		assertThat(store().resolve("CURRENT")).exists();
	}

	@Test
	void withTooLittleSpaceWhatAnEarlierStartHasCopiedTakesNone() throws IOException {
		Path copy = Files.createDirectories(store().resolve(".restore").resolve("store"));
		Files.writeString(copy.resolve("000009.sst"), "half");

		assertThatExceptionOfType(StoreOpenException.class)
			.isThrownBy(() -> restore(backup(), BackupNode.A, Long.MAX_VALUE / 2));
		assertThat(copy.resolve("000009.sst")).doesNotExist();
	}

	@Test
	void withTooLittleSpaceNothingIsCopied() throws IOException {
		assertThatExceptionOfType(StoreOpenException.class)
			.isThrownBy(() -> restore(backup(), BackupNode.A, Long.MAX_VALUE / 2))
			.withMessageContaining("kvorum.storage.min-free-space");
		assertThat(contentOf(store())).isEmpty();
	}

	@Test
	void anEndWhileFilesAreCopiedIsBegunAgainAndNotForgotten() throws IOException {
		Path copy = Files.createDirectories(store().resolve(".restore").resolve("store"));
		Files.writeString(copy.resolve("CURRENT"), "half");

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(null))
			.withMessageContaining("was begun and is not finished");
		restore(backup());
		assertThat(contentOf(store())).containsAllEntriesOf(this.checkpoints.files);
		assertThat(store().resolve(".restore")).doesNotExist();
	}

	/** After each number of files that were moved. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 3, 4, 5, 6 })
	void anEndWhileFilesAreMovedIsGoneOnWithEvenWithoutTheProperty(int moved) throws IOException {
		restore(backup());
		Map<String, String> whole = contentOf(store());
		Path staging = Files.createDirectories(store().resolve(".restore").resolve("store"));
		List<String> names = whole.keySet()
			.stream()
			.sorted((a, b) -> a.equals("CURRENT") ? 1 : b.equals("CURRENT") ? -1 : a.compareTo(b))
			.toList();
		for (String name : names.subList(moved, names.size())) {
			Files.move(store().resolve(name), staging.resolve(name));
		}
		Files.write(store().resolve(".restore").resolve("FILES"), names);
		Files.createFile(store().resolve(".restore").resolve("COMPLETE"));

		restore(null);
		assertThat(contentOf(store())).isEqualTo(whole);
		assertThat(store().resolve(".restore")).doesNotExist();
	}

	@Test
	void aStoreThatSomebodyHasPutThereSinceIsNotOverwritten() throws IOException {
		Path copy = Files.createDirectories(store().resolve(".restore").resolve("store"));
		Files.writeString(copy.resolve("CURRENT"), "that of the backup");
		Files.createFile(copy.resolveSibling("COMPLETE"));
		Files.writeString(store().resolve("CURRENT"), "another");

		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(null))
			.withMessageContaining("another store was put there");
		assertThat(store().resolve("CURRENT")).hasContent("another");
	}

	/**
	 * Whichever of them cannot be moved: the next start goes on. Without a list of the
	 * files, as an older version has left it.
	 */
	@Test
	void withoutAllOtherFilesInTheirPlacesThereIsNoStore() throws IOException {
		restore(backup());
		Map<String, String> whole = contentOf(store());
		Path staging = store().resolve(".restore").resolve("store");
		for (String blocked : whole.keySet().stream().filter(name -> !name.equals("CURRENT")).toList()) {
			Files.createDirectories(staging);
			for (String name : whole.keySet()) {
				Files.move(store().resolve(name), staging.resolve(name));
			}
			Files.createFile(staging.resolveSibling("COMPLETE"));
			Path inTheWay = Files.createFile(Files.createDirectory(store().resolve(blocked)).resolve("x"));

			assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(null))
				.withMessageStartingWith("The restore of the store %s could not be finished: ".formatted(store()))
				.matches(ex -> ex.action().endsWith("start the node again: the restore continues."));
			assertThat(store().resolve("CURRENT")).as("without %s", blocked).doesNotExist();
			Files.delete(inTheWay);
			Files.delete(inTheWay.getParent());
			restore(null);
			assertThat(contentOf(store())).isEqualTo(whole);
		}
	}

	/** As by an rm -r of the directory's files, which leaves the hidden rest. */
	@Test
	void aRestoreOfWhichSomebodyHasRemovedAPartIsNotFinishedWithTheRest() throws IOException {
		Path table = store().resolve(CopiedStore.TABLE);
		this.checkpoints.whenAdopted = () -> assertThat(table.resolve("in the way").toFile().mkdirs()).isTrue();
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(backup()))
			.withMessageContaining("could not be finished");
		BackupDirectory.deleteTree(table);
		Path staging = store().resolve(".restore");
		Files.delete(staging.resolve("store").resolve(CopiedStore.TABLE));

		for (Path from : Arrays.asList(null, backup())) {
			assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(from))
				.withMessageContaining(CopiedStore.TABLE)
				.matches(ex -> ex.action().contains(staging.toString()));
			assertThat(store().resolve("CURRENT")).doesNotExist();
		}

		BackupDirectory.deleteTree(store());
		this.checkpoints.whenAdopted = () -> {
		};
		restore(backup());
		assertThat(contentOf(store())).containsAllEntriesOf(this.checkpoints.files);
	}

	private void assertRefused(String why) {
		assertThatExceptionOfType(StoreOpenException.class).isThrownBy(() -> restore(backup()))
			.withMessageContaining(why);
	}

	/** By path; of files only. */
	private static Map<String, String> contentOf(Path directory) throws IOException {
		Map<String, String> content = new TreeMap<>();
		if (Files.exists(directory)) {
			try (Stream<Path> files = Files.walk(directory)) {
				for (Path file : files.filter(Files::isRegularFile).toList()) {
					content.put(directory.relativize(file).toString(), Files.readString(file));
				}
			}
		}
		return content;
	}

}
