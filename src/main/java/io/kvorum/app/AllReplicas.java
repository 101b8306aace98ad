package io.kvorum.app;

import java.util.List;

import io.kvorum.replication.Replica;

/**
 * The replicas of all members.
 *
 * @param byMember by the index of the member, that of this node among them
 */
record AllReplicas(List<? extends Replica> byMember) {
}
