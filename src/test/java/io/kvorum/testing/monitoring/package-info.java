/** The dashboard and the alerts as tests read them. */
@NullMarked
package io.kvorum.testing.monitoring;

import org.jspecify.annotations.NullMarked;
