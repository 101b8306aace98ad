/** Micrometer meters and Actuator health of a node. */
@NullMarked
package io.kvorum.observability;

import org.jspecify.annotations.NullMarked;
