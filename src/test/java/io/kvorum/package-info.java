/** Tests over the whole of the code. */
@NullMarked
package io.kvorum;

import org.jspecify.annotations.NullMarked;
