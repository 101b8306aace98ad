/** The HTTP API: requests in, problems and entities out. */
@NullMarked
package io.kvorum.api;

import org.jspecify.annotations.NullMarked;
