/**
 * Kvorum in containers, for the tests of applications on machines with Docker:
 * {@link io.kvorum.testcontainers.KvorumContainer} is one node,
 * {@link io.kvorum.testcontainers.KvorumCluster} is several, with faults.
 * <p>
 * Both need the image of a node. With the starter and {@code spring-boot-testcontainers}
 * a container with {@code @ServiceConnection} is where the client connects.
 */
@NullMarked
package io.kvorum.testcontainers;

import org.jspecify.annotations.NullMarked;
