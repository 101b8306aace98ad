/**
 * Locks for scheduled tasks: {@link io.kvorum.spring.shedlock.KvorumLockProvider} is a
 * provider of ShedLock, which has to be on the class path
 * ({@code net.javacrumbs.shedlock:shedlock-core} or {@code shedlock-spring}).
 */
@NullMarked
package io.kvorum.spring.shedlock;

import org.jspecify.annotations.NullMarked;
