/** A service that keeps orders, counts, caches and schedules with Kvorum. */
@NullMarked
package io.kvorum.samples.service;

import org.jspecify.annotations.NullMarked;
