package io.kvorum.simulation;

/**
 * What clients of a history ask for, in proportion.
 *
 * @param exchanges puts that replace the value which the client knows
 * @param creations puts where there is no value
 * @param removals deletes of the value which the client knows
 * @param replacements puts and deletes where there is a value
 */
record Mix(int gets, int puts, int deletes, int exchanges, int creations, int removals, int replacements) {

	/** What is asked for without conditions. */
	static final Mix PLAIN = new Mix(45, 43, 12, 0, 0, 0, 0);

	private static final Mix[] ALL = { PLAIN, new Mix(3, 3, 1, 4, 2, 1, 0), new Mix(2, 1, 0, 6, 1, 0, 0),
			new Mix(3, 5, 1, 2, 1, 0, 1), new Mix(2, 1, 1, 1, 5, 3, 0), new Mix(1, 3, 3, 2, 4, 1, 1) };

	static Mix any(Chance chance) {
		return ALL[chance.below(ALL.length)];
	}

	int total() {
		return this.gets + this.puts + this.deletes + this.exchanges + this.creations + this.removals
				+ this.replacements;
	}

}
