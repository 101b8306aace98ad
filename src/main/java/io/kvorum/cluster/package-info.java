/** The members of a cluster and the placement of keys on them. Pure values. */
@NullMarked
package io.kvorum.cluster;

import org.jspecify.annotations.NullMarked;
