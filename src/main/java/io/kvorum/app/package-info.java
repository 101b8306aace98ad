/** Properties, wiring and lifecycle of a node. */
@NullMarked
package io.kvorum.app;

import org.jspecify.annotations.NullMarked;
