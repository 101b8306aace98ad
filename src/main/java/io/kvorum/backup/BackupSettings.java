package io.kvorum.backup;

import java.nio.file.Path;

/**
 * The directory of backups, and their limits.
 *
 * @param directory of all backups of this node, and of no other node
 * @param store the directory of the store
 * @param keep number of good backups to keep
 * @param minFreeBytes bytes that a backup leaves free on its disk
 * @param bytesPerSecond limit of the bytes read each second
 */
public record BackupSettings(Path directory, Path store, int keep, long minFreeBytes, long bytesPerSecond) {
}
