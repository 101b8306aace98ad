package io.kvorum.backup;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

import io.kvorum.backup.BackupException.Kind;
import io.kvorum.clock.TimeSource;
import io.kvorum.storage.Checkpoints;
import io.kvorum.storage.Checkpoints.CheckpointException;
import io.kvorum.storage.StorageException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The backups of a node. Used by one thread at a time, except for {@link #list()}.
 * <p>
 * A crash leaves a whole backup or none, by the order of the steps. First the store is
 * copied, and the copy is opened and read, every block. Then each file is synced and its
 * checksum computed, and the manifest is written. Last the directory gets its name.
 */
final class Backups {

	private static final Logger logger = LoggerFactory.getLogger(Backups.class);

	/** The prefix of the engine's log files, which hold no data. */
	private static final String ENGINE_LOG = "LOG";

	private final BackupSettings settings;

	private final BackupDirectory directory;

	private final Checkpoints checkpoints;

	private final BackedUpNode node;

	private final TimeSource time;

	private final BackupEvents events;

	Backups(BackupSettings settings, Checkpoints checkpoints, BackedUpNode node, TimeSource time, BackupEvents events) {
		this.settings = settings;
		this.directory = new BackupDirectory(settings.directory());
		this.checkpoints = checkpoints;
		this.node = node;
		this.time = time;
		this.events = events;
	}

	/**
	 * A backup in a list.
	 *
	 * @param manifest null if it cannot be read
	 * @param problem why the backup cannot be used; null if none was found
	 */
	record Listed(BackupName name, @Nullable BackupManifest manifest, @Nullable String problem) {
	}

	/**
	 * Makes a backup, then removes the oldest beyond the limit.
	 * @param wanted its name; null to name it after the time
	 */
	BackupManifest create(@Nullable BackupName wanted) {
		long startedNanos = this.time.nanos();
		try {
			BackupManifest made = locked(() -> {
				this.directory.removeLeftovers();
				BackupManifest manifest = make(wanted);
				tidyUp(manifest);
				return manifest;
			});
			this.events.made(made.instant().toEpochMilli(), made.bytes(), this.time.nanos() - startedNanos);
			logger.info("Backup {} is made and verified: {} files, {} bytes", made.name(), made.files().size(),
					made.bytes());
			return made;
		}
		catch (BackupException ex) {
			// Asked for twice: there is a backup. Where this node makes one already,
			// BackupService has refused the second.
			if (ex.kind() != Kind.EXISTS) {
				this.events.failed();
			}
			logger.warn("No backup was made: {}", ex.getMessage());
			throw ex;
		}
	}

	private BackupManifest make(@Nullable BackupName wanted) throws IOException {
		Instant now = Instant.ofEpochMilli(this.time.millis());
		BackupName name = (wanted != null) ? wanted : BackupName.at(now);
		requireVote();
		if (this.directory.isTaken(name)) {
			throw new BackupException(Kind.EXISTS, "There is something of this name in %s already. Nothing was changed."
				.formatted(this.settings.directory()));
		}
		requireSpace();
		boolean converged = this.node.isConverged();
		Path partial = this.directory.partial(name);
		Files.createDirectory(partial);
		try {
			Path store = partial.resolve(BackupDirectory.STORE);
			Origin origin = this.node.origin();
			this.checkpoints.checkpoint(store);
			requireSame(origin);
			Checksums checksums = new Checksums(this.time, this.settings.bytesPerSecond());
			long sequence = this.checkpoints.verify(store, checksums::pace);
			BackupManifest manifest = new BackupManifest(BackupManifest.FORMAT, name.text(), now.toString(),
					origin.version(), HexFormat.of().toHexDigits(this.node.identity()), origin.self(), origin.nodes(),
					origin.factor(), origin.layout(), converged, sequence, filesOf(store, checksums), "")
				.sealed();
			BackupDirectory.sync(store);
			write(partial.resolve(BackupManifest.FILE), manifest.toJson());
			BackupDirectory.sync(partial);
			this.directory.publish(name);
			return manifest;
		}
		catch (IOException | RuntimeException ex) {
			discard(partial);
			throw ex;
		}
	}

	/**
	 * Refuses the backup if the nodes changed during the copy: its manifest would name
	 * the wrong nodes.
	 */
	private void requireSame(Origin origin) {
		if (!this.node.origin().equals(origin)) {
			throw new BackupException(Kind.BUSY,
					"The nodes of the cluster have changed while the store was copied. Make another backup, best when the change is done.");
		}
	}

	private void requireVote() {
		String doubt = this.node.doubt();
		if (doubt != null) {
			throw new BackupException(Kind.WITHOUT_VOTE,
					"A backup of this node now would lack what it has acknowledged: %s. Wait until it votes, or back up another node."
						.formatted(doubt));
		}
	}

	/** Checks the free space. Links take none; copies take as much as the store. */
	private void requireSpace() throws IOException {
		FileStore target = Files.getFileStore(this.settings.directory());
		boolean isLinked = target.equals(Files.getFileStore(this.settings.store()));
		long needed = (isLinked ? 0 : sizeOf(this.settings.store())) + this.settings.minFreeBytes();
		long free = target.getUsableSpace();
		if (free < needed) {
			throw new BackupException(Kind.NO_SPACE,
					"%d bytes are free for %s, a backup needs %d: %s and kvorum.storage.min-free-space of %d. Free some, or lower kvorum.backup.keep."
						.formatted(free, this.settings.directory(), needed,
								isLinked ? "nothing for files that are linked" : "a copy of the store",
								this.settings.minFreeBytes()));
		}
	}

	private static long sizeOf(Path store) throws IOException {
		long bytes = 0;
		for (Path file : filesIn(store)) {
			// A compaction may have removed it.
			bytes += Files.exists(file) ? file.toFile().length() : 0;
		}
		return bytes;
	}

	private static List<Path> filesIn(Path store) throws IOException {
		return BackupDirectory.childrenOf(store).stream().sorted().toList();
	}

	/** Syncs the files of a copy and describes them. Deletes the logs of the engine. */
	private static List<BackedUpFile> filesOf(Path store, Checksums checksums) throws IOException {
		List<BackedUpFile> files = new ArrayList<>();
		for (Path file : filesIn(store)) {
			String name = String.valueOf(file.getFileName());
			if (name.startsWith(ENGINE_LOG)) {
				Files.delete(file);
				continue;
			}
			files.add(new BackedUpFile(name, Files.size(file), checksums.of(file, true)));
		}
		return files;
	}

	private static void write(Path file, byte[] bytes) throws IOException {
		Files.write(file, bytes, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
	}

	private static void discard(Path partial) {
		try {
			BackupDirectory.deleteTree(partial);
		}
		catch (IOException ex) {
			logger.warn("{} could not be removed, the next backup will try again: {}", partial, ex.toString());
		}
	}

	/** Removes old backups; a failure is only logged, since the new backup is there. */
	private void tidyUp(BackupManifest made) {
		try {
			retain(made);
		}
		catch (BackupException ex) {
			logger.warn("Backup {} is made. Those beyond kvorum.backup.keep could not be removed, the next backup will "
					+ "try again: {}", made.name(), ex.getMessage());
		}
	}

	/**
	 * Removes the oldest good backups of this node beyond the limit. Keeps the new one,
	 * even if earlier ones have a later time because the clock was ahead. Keeps the
	 * newest converged one too: a peer may have been away while all others were made.
	 */
	private void retain(BackupManifest made) {
		List<BackupManifest> own = list().stream()
			.map(Listed::manifest)
			.filter(manifest -> manifest != null && manifest.self().equals(this.node.origin().self()))
			.sorted(Comparator.comparing((BackupManifest manifest) -> manifest.name().equals(made.name()))
				.thenComparing(BackupManifest::instant)
				.reversed())
			.toList();
		Optional<String> fit = own.stream().filter(BackupManifest::converged).map(BackupManifest::name).findFirst();
		for (BackupManifest each : own.subList(Math.min(own.size(), this.settings.keep()), own.size())) {
			if (fit.filter(each.name()::equals).isPresent()) {
				continue;
			}
			logger.info("Removing backup {} of {}: kvorum.backup.keep is {}", each.name(), each.made(),
					this.settings.keep());
			try {
				this.directory.remove(BackupName.of(each.name()));
			}
			catch (IOException ex) {
				logger.warn("Backup {} could not be removed, the next backup will try again: {}", each.name(),
						ex.toString());
			}
		}
	}

	/** All backups, the newest first; unusable ones last. */
	List<Listed> list() {
		try {
			return this.directory.names()
				.stream()
				.map(this::listed)
				.sorted(Comparator.comparing(Backups::age).reversed().thenComparing(listed -> listed.name().text()))
				.toList();
		}
		catch (IOException ex) {
			throw failed("The directory %s cannot be read".formatted(this.settings.directory()), ex);
		}
	}

	private static Instant age(Listed listed) {
		return (listed.manifest() != null) ? listed.manifest().instant() : Instant.EPOCH;
	}

	private Listed listed(BackupName name) {
		try {
			return new Listed(name, manifestOf(name), null);
		}
		catch (BackupException ex) {
			return new Listed(name, null, ex.getMessage());
		}
	}

	private BackupManifest manifestOf(BackupName name) {
		BackupManifest manifest = BackupManifest.read(this.directory.of(name));
		if (!manifest.name().equals(name.text())) {
			throw new BackupException(Kind.DAMAGED, "The backup in %s is that of another name, %s. Rename it."
				.formatted(this.directory.of(name), manifest.name()));
		}
		return manifest;
	}

	/** Reads every file of a backup again and compares it with the manifest. */
	Listed verify(BackupName name) {
		requireBackup(name);
		try {
			BackupManifest manifest = manifestOf(name);
			String problem = problemOf(name, manifest);
			return new Listed(name, manifest, problem);
		}
		catch (BackupException ex) {
			return new Listed(name, null, ex.getMessage());
		}
	}

	private @Nullable String problemOf(BackupName name, BackupManifest manifest) {
		Path store = this.directory.of(name).resolve(BackupDirectory.STORE);
		Checksums checksums = new Checksums(this.time, this.settings.bytesPerSecond());
		for (BackedUpFile file : manifest.files()) {
			try {
				Path path = store.resolve(file.name());
				if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
					return "The file %s is missing.".formatted(path);
				}
				if (Files.size(path) != file.bytes() || !checksums.of(path, false).equals(file.sha256())) {
					return "The file %s is not what was written.".formatted(path);
				}
			}
			catch (IOException ex) {
				return "The file %s cannot be read: %s.".formatted(file.name(), ex);
			}
		}
		return null;
	}

	void remove(BackupName name) {
		locked(() -> {
			requireBackup(name);
			this.directory.remove(name);
			logger.info("Backup {} was removed on request", name);
			return name;
		});
		try {
			tellNewest();
		}
		catch (BackupException ex) {
			logger.warn("The newest backup is not known: {}", ex.getMessage());
		}
	}

	private void requireBackup(BackupName name) {
		if (!this.directory.isBackup(name)) {
			throw new BackupException(Kind.NOT_FOUND,
					"There is no backup of this name in %s.".formatted(this.settings.directory()));
		}
	}

	/** Removes what a crash has left and reports the newest backup. */
	void tidy() {
		try {
			locked(() -> {
				this.directory.removeLeftovers();
				return true;
			});
			tellNewest();
		}
		catch (BackupException ex) {
			logger.warn("The directory of backups could not be read, backups will fail: {}", ex.getMessage());
		}
	}

	private void tellNewest() {
		list().stream()
			.map(Listed::manifest)
			.filter(manifest -> manifest != null && manifest.self().equals(this.node.origin().self()))
			.findFirst()
			.ifPresentOrElse(newest -> this.events.found(newest.instant().toEpochMilli(), newest.bytes()),
					this.events::foundNone);
	}

	private <T> T locked(Work<T> work) {
		try (FileChannel _ = this.directory.lock()) {
			return work.run();
		}
		catch (IOException | CheckpointException | StorageException ex) {
			throw failed("The work in %s was given up".formatted(this.settings.directory()), ex);
		}
	}

	private static BackupException failed(String what, Exception ex) {
		return new BackupException(Kind.FAILED, "%s: %s.".formatted(what,
				(ex instanceof IOException) ? ex.toString() : String.valueOf(ex.getMessage())), ex);
	}

	private interface Work<T> {

		T run() throws IOException;

	}

}
