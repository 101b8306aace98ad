package io.kvorum.client;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What is known of a key without its value.
 *
 * @param key the key; or, in a listing with a separator, what the keys of a folder begin
 * with
 * @param isFolder whether this is a folder, of which nothing else is told
 * @param version the write that the value is from; null for a folder
 * @param contentType of the value; null for a folder
 * @param size of the value in bytes; 0 for a folder
 * @param expires when the value is gone; null if it stays, and where that is not told
 */
public record EntityInfo(String key, boolean isFolder, @Nullable Version version, @Nullable String contentType,
		long size, @Nullable Instant expires) {

	static EntityInfo folder(String prefix) {
		return new EntityInfo(prefix, true, null, null, 0, null);
	}

}
