/** Decides which nodes a cluster has, for operators and for the nodes themselves. */
@NullMarked
package io.kvorum.layout;

import org.jspecify.annotations.NullMarked;
