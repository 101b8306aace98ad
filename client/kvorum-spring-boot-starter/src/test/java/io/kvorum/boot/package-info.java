/** Tests of the auto-configuration, with a fake node and with a real one. */
@NullMarked
package io.kvorum.boot;

import org.jspecify.annotations.NullMarked;
