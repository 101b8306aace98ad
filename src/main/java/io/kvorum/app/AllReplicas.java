package io.kvorum.app;

import java.util.List;

import io.kvorum.replication.Replica;

/**
 * The replicas of all members.
 *
 * @param byMember indexed by the member; the replica of this node is one of them
 */
record AllReplicas(List<? extends Replica> byMember) {
}
