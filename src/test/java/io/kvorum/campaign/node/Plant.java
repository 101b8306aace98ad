package io.kvorum.campaign.node;

import java.util.Locale;
import java.util.stream.Stream;

/** A flaw of a node that a campaign has to find. */
enum Plant {

	NONE(""),

	/** The operating system may keep for itself what was acknowledged. */
	ACK_BEFORE_SYNC("--kvorum.storage.durability=os"),

	/** What a replica missed is told to nobody: no hint, no slice in need. */
	FORGET_HINT(""),

	/**
	 * A replica promises nothing to a ballot, and accepts what was made from anything.
	 */
	BREAK_PROMISE(""),

	/** An empty disk is taken for all that there was. */
	BELIEVE_LOST_DISK("--kvorum.cluster.accept-loss=true");

	private final String property;

	Plant(String property) {
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
