/** Tests of the package with the same name. */
@NullMarked
package io.kvorum.spring.session;

import org.jspecify.annotations.NullMarked;
