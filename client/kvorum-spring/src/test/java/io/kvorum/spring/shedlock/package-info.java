/** Tests of the package with the same name. */
@NullMarked
package io.kvorum.spring.shedlock;

import org.jspecify.annotations.NullMarked;
