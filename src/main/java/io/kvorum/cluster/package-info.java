/** Who belongs to the cluster and which of its members hold a key. Pure values. */
@NullMarked
package io.kvorum.cluster;

import org.jspecify.annotations.NullMarked;
