/** The client with real nodes. */
@NullMarked
package io.kvorum.client.it;

import org.jspecify.annotations.NullMarked;
