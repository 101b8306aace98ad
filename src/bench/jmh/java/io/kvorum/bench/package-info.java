/** Benchmarks of what has no network: see the README beside the sources. */
@NullMarked
package io.kvorum.bench;

import org.jspecify.annotations.NullMarked;
