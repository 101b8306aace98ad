package io.kvorum.transport;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;

/**
 * The topologies of a node as other nodes are told of them: the fingerprint of its only
 * one, or of the one before a change and the one after it. Behind that stands the number
 * of the layout, unless it is that of the configuration: <pre>
 * 9c01f3a2b4d5e6f7
 * 9c01f3a2b4d5e6f7+41aa90b2c3d4e5f6@7
 * </pre>
 */
record TopologyNames(String text) {

	private static final String SEPARATOR = "+";

	private static final char BEFORE_NUMBER = '@';

	private static final Pattern A_TEXT = Pattern.compile("[0-9a-f]{1,16}([+][0-9a-f]{1,16})?(@[0-9]{1,18})?");

	static TopologyNames of(Layout layout) {
		String names = layout.topology()
			.parts()
			.stream()
			.map(part -> Long.toHexString(part.fingerprint()))
			.collect(Collectors.joining(SEPARATOR));
		return new TopologyNames((layout.number() == 0) ? names : names + BEFORE_NUMBER + layout.number());
	}

	static TopologyNames of(Topology topology) {
		return of(new Layout(0, topology));
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
		return isValid() ? Stream.of(beforeNumber().split("\\+")).map(name -> Long.parseUnsignedLong(name, 16)).toList()
				: List.of();
	}

	private boolean isValid() {
		return A_TEXT.matcher(this.text).matches();
	}

	private String beforeNumber() {
		int at = this.text.indexOf(BEFORE_NUMBER);
		return (at < 0) ? this.text : this.text.substring(0, at);
	}

	/** The number of the layout; 0 if the text is of another form. */
	long number() {
		int at = this.text.indexOf(BEFORE_NUMBER);
		return (isValid() && at >= 0) ? Long.parseLong(this.text.substring(at + 1)) : 0;
	}

	/** Whether a node works with the one that has these names. */
	boolean isAccepted(Acceptance acceptance) {
		return acceptance.accepts(number(), fingerprints());
	}

}
