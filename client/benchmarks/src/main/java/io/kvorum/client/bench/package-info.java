/** What the client costs. */
@NullMarked
package io.kvorum.client.bench;

import org.jspecify.annotations.NullMarked;
