/** Kvorum's HTTP API. */
@NullMarked
package io.kvorum.api;

import org.jspecify.annotations.NullMarked;
