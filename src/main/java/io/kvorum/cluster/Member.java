package io.kvorum.cluster;

/**
 * A node of a topology.
 *
 * @param index its position among the members of the topology; meaningless outside of it
 * @param address {@code http://host:port}, by which the other nodes reach it
 */
public record Member(int index, String address) {

}
