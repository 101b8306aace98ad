/** The members of the cluster and the keys that each of them holds. Pure values. */
@NullMarked
package io.kvorum.cluster;

import org.jspecify.annotations.NullMarked;
