/** Keys, versions and entries: the vocabulary of the store. Pure values; the JDK only. */
@NullMarked
package io.kvorum.kv;

import org.jspecify.annotations.NullMarked;
