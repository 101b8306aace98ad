package io.kvorum.transport;

/** Answers what other nodes ask without a stream. */
public interface PlainAnswers {

	/**
	 * Learns the layout that another node knows, and returns that of this one.
	 * @param theirs the text of a layout, or of a node without one
	 */
	String exchangeLayouts(String theirs);

	/** Returns the {@link OwnReport}. */
	String report();

}
