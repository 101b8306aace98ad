package io.kvorum.simulation;

import java.nio.ByteBuffer;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
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
		return ((entry instanceof Live live) ? String.valueOf(number(live)) : "tombstone") + text(entry.version());
	}

	static String text(Version version) {
		return "@%d.%d.n%d".formatted(version.millis() % 1_000_000, version.timestamp() & 0xFFFF,
				version.node() & 0xFF);
	}

}
