/**
 * Whether this node may be believed: not while it lacks what it once acknowledged, as
 * after the loss of its disk, nor while it has what others have long deleted.
 */
@NullMarked
package io.kvorum.replication.rejoin;

import org.jspecify.annotations.NullMarked;
