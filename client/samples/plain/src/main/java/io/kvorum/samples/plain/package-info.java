/** A program that uses the client and nothing else. */
@NullMarked
package io.kvorum.samples.plain;

import org.jspecify.annotations.NullMarked;
