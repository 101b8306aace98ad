package io.kvorum.campaign.node;

import java.util.Locale;
import java.util.stream.Stream;

/** A flaw of a node that a campaign has to find. */
enum Plant {

	NONE(false, ""),

	/** The operating system may keep for itself what was acknowledged. */
	ACK_BEFORE_SYNC(false, "--kvorum.storage.durability=os"),

	/** What a replica missed is told to nobody: no hint, no slice in need. */
	FORGET_HINT(true, ""),

	/** An empty disk is taken for all that there was. */
	BELIEVE_LOST_DISK(false, "--kvorum.cluster.accept-loss=true");

	final boolean forgetsHints;

	private final String property;

	Plant(boolean forgetsHints, String property) {
		this.forgetsHints = forgetsHints;
		this.property = property;
	}

	/** Arguments of a node, with those that give it the flaw. */
	String[] addedTo(String[] arguments) {
		return Stream.concat(Stream.of(arguments), Stream.of(this.property).filter(added -> !added.isEmpty()))
			.toArray(String[]::new);
	}

	static Plant of(String name) {
		return name.isEmpty() ? NONE : valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
	}

}
