/**
 * The operations that a store offers to its clients, and what it tells about each: the
 * port between the API and whatever holds the data.
 */
@NullMarked
package io.kvorum.operation;

import org.jspecify.annotations.NullMarked;
