/** Ordered ranges of keys, merged from pages of all replicas. */
@NullMarked
package io.kvorum.range;

import org.jspecify.annotations.NullMarked;
