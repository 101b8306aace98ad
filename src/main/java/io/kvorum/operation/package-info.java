/**
 * The operations that a store offers to its clients, and the events of each: the port
 * between the API and the store.
 */
@NullMarked
package io.kvorum.operation;

import org.jspecify.annotations.NullMarked;
