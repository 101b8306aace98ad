package io.kvorum.transport;

import java.nio.ByteBuffer;

import io.kvorum.kv.KeyRange;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;

/**
 * Range and limit of a scan, encoded in an operation instead of an entry.
 *
 * <pre>
 *  0      4      8            12           14
 *  bytes  items  entry bytes  start bytes  start  [end]
 * </pre>
 *
 * A range without an end has no bytes for it. A range that ends with 0 bytes has no keys,
 * and is sent as another one without keys.
 */
record ScanOrder(KeyRange range, Page.Limit limit) {

	/** No key comes before it. */
	private static final byte[] FIRST = { 0 };

	private static final int FIXED = 3 * Integer.BYTES + Short.BYTES;

	byte[] toBytes() {
		byte @Nullable [] end = this.range.end();
		boolean endsAtOnce = end != null && end.length == 0;
		byte[] start = endsAtOnce ? FIRST : this.range.start();
		end = endsAtOnce ? FIRST : end;
		ByteBuffer bytes = ByteBuffer.allocate(FIXED + start.length + ((end != null) ? end.length : 0));
		bytes.putInt(this.limit.bytes())
			.putInt(this.limit.items())
			.putInt(this.limit.entryBytes())
			.putShort((short) start.length)
			.put(start);
		if (end != null) {
			bytes.put(end);
		}
		return bytes.array();
	}

	/**
	 * Reads an order.
	 * @throws RuntimeException if these bytes are no order
	 */
	static ScanOrder of(byte[] bytes) {
		ByteBuffer in = ByteBuffer.wrap(bytes);
		Page.Limit limit = new Page.Limit(in.getInt(), in.getInt(), in.getInt());
		byte[] start = new byte[in.getShort() & 0xffff];
		in.get(start);
		byte[] end = new byte[in.remaining()];
		in.get(end);
		return new ScanOrder(KeyRange.of(start, (end.length > 0) ? end : null), limit);
	}

}
