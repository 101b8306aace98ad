/** What tests of several packages share. */
@NullMarked
package io.kvorum.testing;

import org.jspecify.annotations.NullMarked;
