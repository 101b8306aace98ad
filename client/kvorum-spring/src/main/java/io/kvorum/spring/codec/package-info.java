/**
 * How objects of many classes are stored: values of caches, and attributes of sessions.
 * <p>
 * {@link io.kvorum.spring.codec.JsonObjectCodec} needs Jackson 3, which has to be on the
 * class path. {@link io.kvorum.spring.codec.JavaObjectCodec} reads only classes that are
 * allowed.
 */
@NullMarked
package io.kvorum.spring.codec;

import org.jspecify.annotations.NullMarked;
