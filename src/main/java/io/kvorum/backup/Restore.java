package io.kvorum.backup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.kvorum.clock.TimeSource;
import io.kvorum.storage.Checkpoints;
import io.kvorum.storage.Checkpoints.CheckpointException;
import io.kvorum.storage.StoreOpenException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores a backup to an empty store before the store is opened, on the thread that
 * starts the node.
 * <p>
 * The files are copied to a staging directory inside the store's directory, since that
 * may be a mount point, which cannot be renamed. They are never linked, so that no write
 * reaches the backup. The copy is compared with the manifest and adopted under a new
 * identity. Until then nothing else is touched. Then {@code COMPLETE} is written, and the
 * files are moved to their places, {@code CURRENT} last. After a crash the next start
 * begins again, or finishes the moves.
 */
public final class Restore {

	private static final Logger logger = LoggerFactory.getLogger(Restore.class);

	private static final String STAGING = ".restore";

	/** A file in the staging directory. It exists once the staged files are whole. */
	private static final String COMPLETE = "COMPLETE";

	/**
	 * A file beside it with the names of the staged files. Restores that an older version
	 * has begun have none.
	 */
	private static final String FILES = "FILES";

	/**
	 * A file in the directory of a restored store, with the path and checksum of the
	 * backup.
	 */
	private static final String MARK = "RESTORED";

	/** The file of the engine without which there is no store. */
	private static final String CURRENT = "CURRENT";

	/** A directory that some file systems have at their root. */
	private static final String LOST_AND_FOUND = "lost+found";

	private final RestoreSettings settings;

	private final Origin node;

	private final Checkpoints checkpoints;

	private final Remembering remembering;

	private final TimeSource time;

	private final Path store;

	private final Path staging;

	/**
	 * Creates the restore of a node.
	 * @param node this node: only its own backups are restored
	 */
	public Restore(RestoreSettings settings, Origin node, Checkpoints checkpoints, Remembering remembering,
			TimeSource time) {
		this.settings = settings;
		this.node = node;
		this.checkpoints = checkpoints;
		this.remembering = remembering;
		this.time = time;
		this.store = settings.store().toAbsolutePath().normalize();
		this.staging = this.store.resolve(STAGING);
	}

	/** Decides which records a restored node has. */
	@FunctionalInterface
	public interface Remembering {

		Map<String, byte[]> of(Map<String, byte[]> recorded, Instant made);

	}

	/**
	 * Restores the store if a backup is set, or finishes the restore that an earlier
	 * start began.
	 * @throws StoreOpenException if the store cannot be restored. Before {@code COMPLETE}
	 * only the staging directory has changed; later some files may have been moved, and
	 * the next start moves the rest
	 */
	public void run() {
		Path wanted = this.settings.from();
		try {
			if (Files.exists(this.staging.resolve(COMPLETE))) {
				logger.info("The restore of {} was interrupted and continues", this.store);
				moveIntoPlace();
			}
			if (wanted != null) {
				restore(wanted.toAbsolutePath().normalize());
			}
			else if (Files.exists(this.staging.resolve(BackupDirectory.STORE))) {
				throw new StoreOpenException(
						"A restore of the store %s was begun and is not finished.".formatted(this.store),
						"Set kvorum.backup.restore-from again to restore it, or remove %s to start without."
							.formatted(this.staging));
			}
		}
		catch (BackupException ex) {
			throw new StoreOpenException("%s Nothing was restored.".formatted(ex.getMessage()),
					"Set kvorum.backup.restore-from to another backup of this node, or remove it: the node then starts with what is in %s."
						.formatted(this.store),
					ex);
		}
		catch (IOException | CheckpointException ex) {
			boolean isWhole = wanted == null || Files.exists(this.staging.resolve(COMPLETE));
			throw new StoreOpenException(
					isWhole ? "The restore of the store %s could not be finished: %s".formatted(this.store, ex)
							: "The store %s could not be restored from %s: %s".formatted(this.store, wanted, ex),
					"Correct that and start the node again: the restore %s."
						.formatted(isWhole ? "continues" : "begins again"),
					ex);
		}
	}

	private void restore(Path backup) throws IOException {
		Files.createDirectories(this.store);
		if (!isEmpty()) {
			ignore(backup);
			return;
		}
		BackupManifest manifest = BackupManifest.read(backup);
		requireOwn(manifest, backup);
		// What a start that was ended has copied takes no space from this one.
		BackupDirectory.deleteTree(this.staging);
		requireSpace(manifest);
		try {
			stage(manifest, backup);
		}
		catch (BackupException ex) {
			BackupDirectory.deleteTree(this.staging);
			throw ex;
		}
		moveIntoPlace();
		logger.info("The store {} was restored from {}, made at {}: {} files, {} bytes", this.store, backup,
				manifest.made(), manifest.files().size(), manifest.bytes());
		if (!manifest.converged()) {
			logger.warn("The node of backup {} had not converged when the backup was made: if a whole cluster is "
					+ "restored from such backups, values deleted long before may come back", backup);
		}
	}

	private static List<String> namesIn(Path directory) throws IOException {
		return BackupDirectory.childrenOf(directory).stream().map(file -> String.valueOf(file.getFileName())).toList();
	}

	private boolean isEmpty() throws IOException {
		return namesIn(this.store).stream().allMatch(name -> name.equals(STAGING) || name.equals(LOST_AND_FOUND));
	}

	/**
	 * Accepts a store that was restored from this path before, whatever is there now.
	 * Refuses any other store.
	 */
	private void ignore(Path backup) throws IOException {
		Path mark = this.store.resolve(MARK);
		List<String> lines = Files.exists(mark) ? Files.readAllLines(mark) : List.of();
		if (lines.size() != 2 || !lines.getFirst().equals(backup.toString())) {
			throw new StoreOpenException(
					"The store %s has data that was not restored from %s, and a backup is only restored into an empty directory."
						.formatted(this.store, backup),
					"Move the data away to restore the backup, or remove kvorum.backup.restore-from to start with the data that is there.");
		}
		if (isGoneOr(lines.getLast(), backup)) {
			logger.info("The store {} was restored from {} before: kvorum.backup.restore-from is ignored", this.store,
					backup);
		}
		else {
			logger.warn("The store {} was restored from {} before, where another backup is now. That one is not "
					+ "restored: the node starts with the stored data. Remove kvorum.backup.restore-from, or move the "
					+ "data away to restore that backup", this.store, backup);
		}
	}

	private static boolean isGoneOr(String checksum, Path backup) {
		try {
			return BackupManifest.read(backup).checksum().equals(checksum);
		}
		catch (BackupException _) {
			return true;
		}
	}

	private void requireOwn(BackupManifest manifest, Path backup) {
		if (!this.node.hasPlaceOf(manifest.origin())) {
			throw new StoreOpenException(
					"The backup %s is of %s, and this is %s.".formatted(backup, manifest.origin().describe(),
							this.node.describe()),
					"Set kvorum.backup.restore-from to a backup of this node, and kvorum.cluster.* and kvorum.replication.factor to what they were.");
		}
	}

	private void requireSpace(BackupManifest manifest) throws IOException {
		long free = Files.getFileStore(this.store).getUsableSpace();
		long needed = manifest.bytes() + this.settings.minFreeBytes();
		if (free < needed) {
			throw new StoreOpenException(
					"%d bytes are free for %s, the restore needs %d: the backup and kvorum.storage.min-free-space of %d."
						.formatted(free, this.store, needed, this.settings.minFreeBytes()),
					"Free some space, or give the node a larger disk.");
		}
	}

	private void stage(BackupManifest manifest, Path backup) throws IOException {
		Path copy = Files.createDirectories(this.staging.resolve(BackupDirectory.STORE));
		Checksums checksums = new Checksums(this.time, this.settings.bytesPerSecond());
		for (BackedUpFile file : manifest.files()) {
			Path from = backup.resolve(BackupDirectory.STORE).resolve(file.name());
			if (!Files.isRegularFile(from, LinkOption.NOFOLLOW_LINKS)) {
				throw damaged("The file %s of the backup is missing.".formatted(from));
			}
			if (Files.size(from) != file.bytes()
					|| !checksums.copy(from, copy.resolve(file.name())).equals(file.sha256())) {
				throw damaged("The file %s of the backup is not what was written.".formatted(from));
			}
		}
		this.checkpoints.adopt(copy, recorded -> this.remembering.of(recorded, manifest.instant()));
		write(copy.resolve(MARK), "%s%n%s%n".formatted(backup, manifest.checksum()));
		syncAll(copy);
		write(this.staging.resolve(FILES), String.join("\n", namesIn(copy)));
		write(this.staging.resolve(COMPLETE), "");
		BackupDirectory.sync(this.staging);
		BackupDirectory.sync(this.store);
	}

	private static BackupException damaged(String what) {
		return new BackupException(BackupException.Kind.DAMAGED, what);
	}

	private static void write(Path file, String text) throws IOException {
		Files.writeString(file, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
	}

	/** Syncs all files of the copy: the engine has synced only some of them. */
	private static void syncAll(Path copy) throws IOException {
		for (Path file : BackupDirectory.childrenOf(copy)) {
			BackupDirectory.sync(file);
		}
		BackupDirectory.sync(copy);
	}

	/**
	 * Moves the staged files into the store, except those that an earlier start has
	 * moved.
	 */
	private void moveIntoPlace() throws IOException {
		Path copy = this.staging.resolve(BackupDirectory.STORE);
		if (Files.exists(copy)) {
			if (Files.exists(copy.resolve(CURRENT)) && Files.exists(this.store.resolve(CURRENT))) {
				throw new StoreOpenException(
						"A restore of the store %s was begun, and another store was put there since."
							.formatted(this.store),
						"Remove %s to keep what is there, or all else to go on with the restore."
							.formatted(this.staging));
			}
			requireAll(copy);
			moveAll(copy);
			BackupDirectory.deleteTree(copy);
			BackupDirectory.sync(this.staging);
		}
		BackupDirectory.deleteTree(this.staging);
		BackupDirectory.sync(this.store);
	}

	/**
	 * Checks that all files are there, staged or moved by an earlier start. Somebody may
	 * have emptied the directory since.
	 */
	private void requireAll(Path copy) throws IOException {
		Path names = this.staging.resolve(FILES);
		for (String name : Files.exists(names) ? Files.readAllLines(names) : List.<String>of()) {
			if (!Files.exists(copy.resolve(name)) && !Files.exists(this.store.resolve(name))) {
				throw new StoreOpenException(
						"The restore of the store %s cannot be finished: its file %s was removed since."
							.formatted(this.store, name),
						"Remove all else there too, also %s, and start the node again with kvorum.backup.restore-from."
							.formatted(this.staging));
			}
		}
	}

	private void moveAll(Path copy) throws IOException {
		for (Path file : BackupDirectory.childrenOf(copy)) {
			if (!file.endsWith(CURRENT)) {
				move(file);
			}
		}
		BackupDirectory.sync(this.store);
		if (Files.exists(copy.resolve(CURRENT))) {
			move(copy.resolve(CURRENT));
			BackupDirectory.sync(this.store);
		}
	}

	private void move(Path file) throws IOException {
		Files.move(file, this.store.resolve(String.valueOf(file.getFileName())), StandardCopyOption.ATOMIC_MOVE);
	}

}
