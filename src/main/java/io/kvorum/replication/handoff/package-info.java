/** Keeps what a replica missed, and hands it over when that is back: hinted handoff. */
@NullMarked
package io.kvorum.replication.handoff;

import org.jspecify.annotations.NullMarked;
