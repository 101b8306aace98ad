/** The storage port: the operations of one replica's store, and their failures. */
@NullMarked
package io.kvorum.storage;

import org.jspecify.annotations.NullMarked;
