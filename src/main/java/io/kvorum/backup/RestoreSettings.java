package io.kvorum.backup;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * What a node is to be restored from at its start.
 *
 * @param store the directory of its store
 * @param from the directory of one backup; null where nothing is to be restored
 * @param minFreeBytes what is to be left free on the disk
 * @param bytesPerSecond how fast files are copied
 */
public record RestoreSettings(Path store, @Nullable Path from, long minFreeBytes, long bytesPerSecond) {
}
