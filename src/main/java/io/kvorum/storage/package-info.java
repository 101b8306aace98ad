/** The storage port: what one replica can keep and find, and how that can fail. */
@NullMarked
package io.kvorum.storage;

import org.jspecify.annotations.NullMarked;
