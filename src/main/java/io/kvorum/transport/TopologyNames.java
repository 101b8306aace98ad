package io.kvorum.transport;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.kvorum.cluster.Topology;

/**
 * The topologies of a node as other nodes are told of them: the fingerprint of its only
 * one, or of the one before a change and the one after it.
 */
record TopologyNames(String text) {

	private static final String SEPARATOR = "+";

	private static final Pattern A_TEXT = Pattern.compile("[0-9a-f]{1,16}([+][0-9a-f]{1,16})?");

	static TopologyNames of(Topology topology) {
		return new TopologyNames(topology.parts()
			.stream()
			.map(part -> Long.toHexString(part.fingerprint()))
			.collect(Collectors.joining(SEPARATOR)));
	}

	/** The names in a frame. */
	static TopologyNames of(byte[] bytes) {
		return new TopologyNames(new String(bytes, StandardCharsets.US_ASCII));
	}

	byte[] toBytes() {
		return this.text.getBytes(StandardCharsets.US_ASCII);
	}

	/** Whether the node changes its topology. */
	boolean isChange() {
		return fingerprints().size() > 1;
	}

	/** Their fingerprints; empty if the text is of another form. */
	List<Long> fingerprints() {
		return A_TEXT.matcher(this.text).matches()
				? Stream.of(this.text.split("\\+")).map(name -> Long.parseUnsignedLong(name, 16)).toList() : List.of();
	}

}
