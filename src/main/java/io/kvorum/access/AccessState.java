package io.kvorum.access;

import org.jspecify.annotations.Nullable;

/**
 * How access is controlled just now.
 *
 * @param controlled whether it is at all
 * @param keys in use
 * @param trouble why the file of the keys cannot be used, so that older ones are; null
 * where it can
 * @param troubleSinceNanos since when
 */
public record AccessState(boolean controlled, int keys, @Nullable String trouble, long troubleSinceNanos) {
}
