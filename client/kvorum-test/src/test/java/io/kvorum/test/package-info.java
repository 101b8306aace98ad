/** Tests of the support for tests. */
@NullMarked
package io.kvorum.test;

import org.jspecify.annotations.NullMarked;
