/** Tests of the properties, the wiring and the lifecycle of a node. */
@NullMarked
package io.kvorum.app;

import org.jspecify.annotations.NullMarked;
