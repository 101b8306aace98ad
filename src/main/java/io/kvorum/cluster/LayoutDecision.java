package io.kvorum.cluster;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What was decided about the nodes of a cluster: the layout in force, and the topology
 * that an operator has staged. Each decision replaces the one before it, with a higher
 * number.
 *
 * @param number of the decision; a staged topology is named by it
 * @param layout the layout in force
 * @param staged the topology to change to; null if none is staged
 * @param isPaused whether nothing is copied for the change that is under way
 */
public record LayoutDecision(long number, Layout layout, @Nullable Topology staged, boolean isPaused) {

	private static final String HEAD = "decision ";

	private static final String STAGED = "staged";

	private static final String PAUSED = "paused";

	/** Checks the number. */
	public LayoutDecision {
		if (number < layout.number()) {
			throw new IllegalArgumentException(
					"decision %d comes before layout %d, which it has in force".formatted(number, layout.number()));
		}
	}

	/** The decision without anything staged or paused. */
	public LayoutDecision(long number, Layout layout) {
		this(number, layout, null, false);
	}

	/** The decision to stage a topology, instead of any other. */
	public LayoutDecision staging(Topology next) {
		return new LayoutDecision(this.number + 1, this.layout, next, false);
	}

	/** The decision to change to the staged topology. */
	public LayoutDecision applying() {
		Topology next = this.staged;
		if (next == null) {
			throw new IllegalStateException("nothing is staged");
		}
		return new LayoutDecision(this.number + 1, this.layout.movingTo(next, this.number + 1));
	}

	/** The decision that the change is over. */
	public LayoutDecision finishing() {
		return new LayoutDecision(this.number + 1, this.layout.moved(this.number + 1));
	}

	/** The decision to give up the change, or what is staged. */
	public LayoutDecision aborting() {
		return new LayoutDecision(this.number + 1,
				this.layout.isMoving() ? this.layout.aborted(this.number + 1) : this.layout);
	}

	/** The decision to copy nothing for the change, or to go on. */
	public LayoutDecision pausing(boolean isPaused) {
		return new LayoutDecision(this.number + 1, this.layout, null, isPaused);
	}

	/** The decision as text, which {@link #parse} reads. */
	public String toText() {
		StringBuilder text = new StringBuilder(HEAD).append(this.number).append('\n');
		if (this.isPaused) {
			text.append(PAUSED).append('\n');
		}
		text.append(this.layout.toText());
		if (this.staged != null) {
			text.append(STAGED).append('\n');
			Layout.append(this.staged, text);
		}
		return text.toString();
	}

	/**
	 * Reads what {@link #toText} has written.
	 * @throws IllegalArgumentException if it is anything else
	 */
	public static LayoutDecision parse(String text) {
		List<String> lines = text.lines().toList();
		if (lines.isEmpty() || !lines.getFirst().startsWith(HEAD)) {
			throw new IllegalArgumentException("a decision begins with its number");
		}
		boolean isPaused = lines.size() > 1 && lines.get(1).equals(PAUSED);
		int staged = lines.indexOf(STAGED);
		Layout layout = Layout
			.parse(String.join("\n", lines.subList(isPaused ? 2 : 1, (staged < 0) ? lines.size() : staged)));
		return new LayoutDecision(Long.parseLong(lines.getFirst().substring(HEAD.length())), layout,
				(staged < 0) ? null : Layout.topologyOf(lines.subList(staged + 1, lines.size())), isPaused);
	}

}
