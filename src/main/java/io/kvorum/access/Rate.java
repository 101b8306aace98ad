package io.kvorum.access;

/**
 * The limit of the requests of a key to one node.
 *
 * @param perSecond requests in the long run; 1 to {@value #MAX}
 * @param burst requests at once, after a pause; 1 to {@value #MAX}
 */
public record Rate(int perSecond, int burst) {

	static final int MAX = 1_000_000;

}
