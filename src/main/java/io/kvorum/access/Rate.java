package io.kvorum.access;

/**
 * How many requests a key may make of one node.
 *
 * @param perSecond in the long run; 1 to {@value #MAX}
 * @param burst at once, after a pause; 1 to {@value #MAX}
 */
public record Rate(int perSecond, int burst) {

	static final int MAX = 1_000_000;

}
