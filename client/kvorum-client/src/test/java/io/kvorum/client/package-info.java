/** Tests of the client. */
@NullMarked
package io.kvorum.client;

import org.jspecify.annotations.NullMarked;
