package io.kvorum.backup;

import java.nio.file.Path;

/**
 * The directory of backups, and their limits.
 *
 * @param directory of all backups of a node, and of no other
 * @param store the directory of the store
 * @param keep number of good backups that are kept
 * @param minFreeBytes bytes that a backup leaves free on its disk
 * @param bytesPerSecond how fast files are read
 */
public record BackupSettings(Path directory, Path store, int keep, long minFreeBytes, long bytesPerSecond) {
}
