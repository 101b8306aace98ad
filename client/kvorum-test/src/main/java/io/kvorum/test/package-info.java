/**
 * Real Kvorum nodes for the tests of applications: {@link io.kvorum.test.KvorumExtension}
 * for JUnit Jupiter, {@link io.kvorum.test.KvorumCluster} for everything else.
 * <p>
 * Each node is a child process that runs the executable jar of Kvorum on a Java 25 or
 * later. The tests themselves run on Java 17 or later.
 */
@NullMarked
package io.kvorum.test;

import org.jspecify.annotations.NullMarked;
