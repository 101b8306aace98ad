package io.kvorum.backup;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * Settings of the restore of a node at its start.
 *
 * @param store the directory of its store
 * @param from the directory of one backup; null if nothing is to be restored
 * @param minFreeBytes bytes to leave free on the disk
 * @param bytesPerSecond limit of the bytes copied each second
 */
public record RestoreSettings(Path store, @Nullable Path from, long minFreeBytes, long bytesPerSecond) {
}
