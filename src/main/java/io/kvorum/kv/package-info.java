/** Keys, versions and entries: what the store is about. Pure values; the JDK only. */
@NullMarked
package io.kvorum.kv;

import org.jspecify.annotations.NullMarked;
