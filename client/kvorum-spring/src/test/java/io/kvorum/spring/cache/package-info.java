/** Tests of the package with the same name. */
@NullMarked
package io.kvorum.spring.cache;

import org.jspecify.annotations.NullMarked;
