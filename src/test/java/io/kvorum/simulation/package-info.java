/**
 * Clusters of real coordinators and replicas in one thread, under virtual time: network,
 * disks, clocks and crashes come from a seed, so that any history can be had again.
 */
@NullMarked
package io.kvorum.simulation;

import org.jspecify.annotations.NullMarked;
