/**
 * Spring Boot's auto-configuration of a {@link io.kvorum.client.KvorumClient}: from the
 * properties {@code kvorum.client.*}, or from
 * {@link io.kvorum.boot.KvorumConnectionDetails} of a test.
 */
@NullMarked
package io.kvorum.boot;

import org.jspecify.annotations.NullMarked;
