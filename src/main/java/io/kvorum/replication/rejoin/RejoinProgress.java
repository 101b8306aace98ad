package io.kvorum.replication.rejoin;

/**
 * Whether this node is believed, and if not how far it is.
 *
 * @param state what it is, for people
 * @param doubt why it is not believed; empty if it is
 * @param partsToDo parts of the data to be rebuilt; 0 where there is nothing to do
 * @param partsDone those of them that are
 */
public record RejoinProgress(String state, String doubt, int partsToDo, int partsDone) {
}
