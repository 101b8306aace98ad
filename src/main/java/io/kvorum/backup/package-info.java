/**
 * Backups of a node's store: made, verified, listed, removed, and restored at the start
 * of a node. All of it blocks; {@link io.kvorum.backup.BackupService} keeps it away from
 * threads that must not wait.
 */
@NullMarked
package io.kvorum.backup;

import org.jspecify.annotations.NullMarked;
