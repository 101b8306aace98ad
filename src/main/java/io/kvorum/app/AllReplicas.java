package io.kvorum.app;

import java.util.List;

import io.kvorum.replication.Replica;

/**
 * The replicas of all members.
 *
 * @param byMember the replicas by the index of their member, including this node's
 */
record AllReplicas(List<? extends Replica> byMember) {
}
