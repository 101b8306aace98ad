/**
 * Backups of a node's store, and the restore at the start of a node. Everything here
 * blocks. {@link io.kvorum.backup.BackupService} keeps backups away from threads that
 * must not wait.
 */
@NullMarked
package io.kvorum.backup;

import org.jspecify.annotations.NullMarked;
