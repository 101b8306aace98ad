/** Tests of containers, in the package of what they test. */
@NullMarked
package io.kvorum.testcontainers;

import org.jspecify.annotations.NullMarked;
