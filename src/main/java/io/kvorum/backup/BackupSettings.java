package io.kvorum.backup;

import java.nio.file.Path;

/**
 * Where backups go, and their limits.
 *
 * @param directory of all backups of a node, and of no other
 * @param store the directory of the store
 * @param keep good backups that are kept
 * @param minFreeBytes what a backup leaves free on its disk
 * @param bytesPerSecond how fast files are read
 */
public record BackupSettings(Path directory, Path store, int keep, long minFreeBytes, long bytesPerSecond) {
}
