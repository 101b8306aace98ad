/** Time and the versions made from it. */
@NullMarked
package io.kvorum.clock;

import org.jspecify.annotations.NullMarked;
