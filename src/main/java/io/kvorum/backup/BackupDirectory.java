package io.kvorum.backup;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.backup.BackupException.Kind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of a node's backups.
 * <p>
 * A backup is a directory {@code <name>} with a {@code manifest.json} and the files of
 * the store in {@code store}. A rename from {@code <name>.partial} publishes it, a rename
 * back removes it. A directory {@code <name>.partial} is no backup and is deleted.
 * Symbolic links inside are no backups and never followed; the directory itself may be
 * one.
 */
final class BackupDirectory {

	/** The subdirectory of a backup with the files of the store. */
	static final String STORE = "store";

	private static final Logger logger = LoggerFactory.getLogger(BackupDirectory.class);

	private static final String LOCK = ".lock";

	private final Path path;

	BackupDirectory(Path path) {
		this.path = path.toAbsolutePath().normalize();
	}

	/** The directory of a backup. */
	Path of(BackupName name) {
		return this.path.resolve(name.text());
	}

	/** The directory of a backup that is being made, or removed. */
	Path partial(BackupName name) {
		return this.path.resolve(name.text() + BackupName.PARTIAL);
	}

	/**
	 * Locks the directory until the channel is closed.
	 * @throws BackupException if another process, or other work of this one, holds the
	 * lock
	 */
	FileChannel lock() throws IOException {
		Files.createDirectories(this.path);
		FileChannel channel = FileChannel.open(this.path.resolve(LOCK), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
		try {
			lock(channel);
			return channel;
		}
		catch (IOException | BackupException ex) {
			channel.close();
			throw ex;
		}
	}

	private void lock(FileChannel channel) throws IOException {
		if (!isLockedBy(channel)) {
			throw new BackupException(Kind.BUSY,
					"The directory %s is in use by another process. Give each node a directory of its own by kvorum.backup.directory."
						.formatted(this.path));
		}
	}

	private static boolean isLockedBy(FileChannel channel) throws IOException {
		try {
			FileLock lock = channel.tryLock();
			return lock != null;
		}
		catch (OverlappingFileLockException _) {
			return false;
		}
	}

	/** Whether the name belongs to a backup, or to one that is being made or removed. */
	boolean isTaken(BackupName name) {
		return Files.exists(of(name), LinkOption.NOFOLLOW_LINKS)
				|| Files.exists(partial(name), LinkOption.NOFOLLOW_LINKS);
	}

	boolean isBackup(BackupName name) {
		return isBackup(of(name));
	}

	private static boolean isBackup(Path backup) {
		return Files.isDirectory(backup, LinkOption.NOFOLLOW_LINKS)
				&& Files.isRegularFile(backup.resolve(BackupManifest.FILE), LinkOption.NOFOLLOW_LINKS);
	}

	/** The names of all backups, readable or not, in no order. */
	List<BackupName> names() throws IOException {
		List<BackupName> names = new ArrayList<>();
		for (Path each : children()) {
			String name = nameOf(each);
			if (BackupName.isOne(name) && isBackup(each)) {
				names.add(new BackupName(name));
			}
		}
		return names;
	}

	private List<Path> children() throws IOException {
		return Files.isDirectory(this.path) ? childrenOf(this.path) : List.of();
	}

	/** The children of a directory, in no order. */
	static List<Path> childrenOf(Path directory) throws IOException {
		try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
			return allOf(stream);
		}
	}

	/** All elements. A failure of the disk in the middle is an IOException too. */
	static List<Path> allOf(DirectoryStream<Path> stream) throws IOException {
		List<Path> all = new ArrayList<>();
		try {
			stream.forEach(all::add);
		}
		catch (DirectoryIteratorException ex) {
			throw ex.getCause();
		}
		return all;
	}

	/** Publishes a backup that is complete and synced. */
	void publish(BackupName name) throws IOException {
		Files.move(partial(name), of(name), StandardCopyOption.ATOMIC_MOVE);
		sync(this.path);
	}

	/** Removes a backup: one rename unpublishes it, then its files are deleted. */
	void remove(BackupName name) throws IOException {
		deleteTree(partial(name));
		Files.move(of(name), partial(name), StandardCopyOption.ATOMIC_MOVE);
		sync(this.path);
		deleteTree(partial(name));
	}

	/**
	 * Removes the remains of interrupted backups and removals. The caller holds the lock.
	 */
	void removeLeftovers() throws IOException {
		for (Path each : children()) {
			String name = nameOf(each);
			if (name.endsWith(BackupName.PARTIAL)
					&& BackupName.isOne(name.substring(0, name.length() - BackupName.PARTIAL.length()))) {
				logger.info("Removing {}, left by an interrupted backup or removal", each);
				deleteTree(each);
			}
		}
	}

	private static String nameOf(Path path) {
		return String.valueOf(path.getFileName());
	}

	/**
	 * Syncs a file or a directory, so that a crash does not undo earlier changes to it.
	 */
	static void sync(Path directory) throws IOException {
		try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
			channel.force(true);
		}
	}

	/**
	 * Removes a file, a link, or a directory with its content; does nothing if it does
	 * not exist.
	 */
	static void deleteTree(Path root) throws IOException {
		if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
			return;
		}
		Files.walkFileTree(root, new SimpleFileVisitor<>() {

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				Files.delete(file);
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFileFailed(Path file, IOException ex) throws IOException {
				if (ex instanceof NoSuchFileException) {
					return FileVisitResult.CONTINUE;
				}
				throw ex;
			}

			@Override
			public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException ex) throws IOException {
				if (ex != null) {
					throw ex;
				}
				Files.delete(directory);
				return FileVisitResult.CONTINUE;
			}
		});
	}

}
