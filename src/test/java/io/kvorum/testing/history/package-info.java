/** What clients did and saw, and whether one register could have answered so. */
@NullMarked
package io.kvorum.testing.history;

import org.jspecify.annotations.NullMarked;
