/**
 * Who may do what: API keys, their rights and rates, and what a request may do by them.
 */
@NullMarked
package io.kvorum.access;

import org.jspecify.annotations.NullMarked;
