/**
 * Access control: API keys, their rights and rates, and the decision about a request.
 */
@NullMarked
package io.kvorum.access;

import org.jspecify.annotations.NullMarked;
