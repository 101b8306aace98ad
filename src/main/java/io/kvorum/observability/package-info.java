/** What happens in a node, as Micrometer meters and Actuator health. */
@NullMarked
package io.kvorum.observability;

import org.jspecify.annotations.NullMarked;
