package io.kvorum.convergence.change;

import java.util.List;

import io.kvorum.cluster.Member;

/**
 * The progress of a change, as one node knows it.
 *
 * @param step the step of this node
 * @param waitsFor the nodes that it waits for until the next step; empty if it waits for
 * none
 * @param why what has to be true of those nodes, in words
 */
public record ChangeStatus(Step step, List<Member> waitsFor, String why) {
}
