package io.kvorum.client;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A key with its value.
 *
 * @param <T> the type of values
 * @param key the key
 * @param value the value
 * @param version the write that the value is from
 * @param contentType of the value, as it was written
 * @param lastModified when it was written, in whole seconds; null where that is not told
 * @param expires when the value is gone, in whole seconds; null if it stays, and where
 * that is not told: in a range, and after an update
 */
public record Entity<T>(String key, T value, Version version, String contentType, @Nullable Instant lastModified,
		@Nullable Instant expires) {
}
