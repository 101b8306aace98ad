package io.kvorum.access;

import org.jspecify.annotations.Nullable;

/**
 * The state of access control.
 *
 * @param controlled whether requests need an API key
 * @param keys number of keys in use
 * @param trouble why the keys file cannot be used, so that older keys stay in use; null
 * if it can be used
 * @param troubleSinceNanos the time at which the trouble was first found, in nanoseconds;
 * 0 without trouble
 */
public record AccessState(boolean controlled, int keys, @Nullable String trouble, long troubleSinceNanos) {
}
