/** Micrometer meters, spans, Actuator health and endpoints of a node. Decides nothing. */
@NullMarked
package io.kvorum.observability;

import org.jspecify.annotations.NullMarked;
