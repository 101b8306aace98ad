/** The sample is run as its users run it. */
@NullMarked
package io.kvorum.samples.plain;

import org.jspecify.annotations.NullMarked;
