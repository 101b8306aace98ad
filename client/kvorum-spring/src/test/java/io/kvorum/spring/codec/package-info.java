/** Tests of the package with the same name. */
@NullMarked
package io.kvorum.spring.codec;

import org.jspecify.annotations.NullMarked;
