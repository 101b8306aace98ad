package io.kvorum.backup;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * The backup that a node is restored from at its start.
 *
 * @param store the directory of the store
 * @param from the directory of one backup; null if nothing is to be restored
 * @param minFreeBytes the space to leave free on the disk
 * @param bytesPerSecond the rate at which files are copied
 */
public record RestoreSettings(Path store, @Nullable Path from, long minFreeBytes, long bytesPerSecond) {
}
