/** Tests of a whole node in this process. */
@NullMarked
package io.kvorum.node;

import org.jspecify.annotations.NullMarked;
