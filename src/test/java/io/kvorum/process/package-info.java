/**
 * What a node promises from outside: the real jar in its own process, over HTTP, kills
 * and damage included.
 */
@NullMarked
package io.kvorum.process;

import org.jspecify.annotations.NullMarked;
