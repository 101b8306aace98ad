package io.kvorum.simulation;

import java.nio.ByteBuffer;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;

/** Numbers as values. */
final class Values {

	private Values() {
	}

	static Value of(int number) {
		return Value.of(ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
	}

	static int number(Live live) {
		return ByteBuffer.wrap(live.value().array()).getInt(live.value().offset());
	}

	static String text(Entry entry) {
		Lineage lineage = entry.lineage();
		return ((entry instanceof Live live) ? String.valueOf(number(live)) : "tombstone") + text(entry.version())
				+ ((lineage != null) ? " (%s%s%s on %s)".formatted(text(lineage.identity()),
						lineage.isConditional() ? " if" : "", lineage.isProposedAgain() ? " again" : "",
						lineage.ancestors().stream().map(ancestor -> text(ancestor.version())).toList()) : "");
	}

	static String text(Version version) {
		return "@%d.%d.n%d".formatted(version.millis() % 1_000_000, version.timestamp() & 0xFFFF,
				version.node() & 0xFF);
	}

}
