package io.kvorum.backup;

import java.nio.file.Path;

/**
 * The place of backups, and their limits.
 *
 * @param directory the directory of all backups of this node, and of no other
 * @param store the directory of the store
 * @param keep the number of good backups that are kept
 * @param minFreeBytes the space that a backup leaves free on its disk
 * @param bytesPerSecond the rate at which files are read
 */
public record BackupSettings(Path directory, Path store, int keep, long minFreeBytes, long bytesPerSecond) {
}
