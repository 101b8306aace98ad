package io.kvorum.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A message of Protocol Buffers, read by the numbers of its fields: enough for what
 * OpenTelemetry sends, without its schema.
 */
final class ProtoMessage {

	private static final int VARINT = 0;

	private static final int FIXED_64 = 1;

	private static final int BYTES = 2;

	private static final int FIXED_32 = 5;

	private static final int WIRE_TYPE_BITS = 3;

	private static final int VARINT_BITS = 7;

	private static final int MORE = 1 << VARINT_BITS;

	private final Map<Integer, List<Long>> numbers = new TreeMap<>();

	private final Map<Integer, List<byte[]>> bytes = new TreeMap<>();

	ProtoMessage(byte[] encoded) {
		ByteBuffer from = ByteBuffer.wrap(encoded).order(ByteOrder.LITTLE_ENDIAN);
		while (from.hasRemaining()) {
			long tag = varint(from);
			int field = (int) (tag >>> WIRE_TYPE_BITS);
			switch ((int) tag & ((1 << WIRE_TYPE_BITS) - 1)) {
				case VARINT -> add(field, varint(from));
				case FIXED_64 -> add(field, from.getLong());
				case FIXED_32 -> add(field, from.getInt());
				case BYTES -> {
					byte[] value = new byte[(int) varint(from)];
					from.get(value);
					this.bytes.computeIfAbsent(field, _ -> new ArrayList<>()).add(value);
				}
				default -> throw new AssertionError("no wire type of Protocol Buffers: " + tag);
			}
		}
	}

	private void add(int field, long number) {
		this.numbers.computeIfAbsent(field, _ -> new ArrayList<>()).add(number);
	}

	private static long varint(ByteBuffer from) {
		long value = 0;
		for (int shift = 0;; shift += VARINT_BITS) {
			byte next = from.get();
			value |= (next & (MORE - 1L)) << shift;
			if ((next & MORE) == 0) {
				return value;
			}
		}
	}

	boolean has(int field) {
		return this.numbers.containsKey(field) || this.bytes.containsKey(field);
	}

	/** 0 where it is not there, as the format has it. */
	long number(int field) {
		return this.numbers.getOrDefault(field, List.of(0L)).getLast();
	}

	/** Empty where it is not there, as the format has it. */
	byte[] bytes(int field) {
		return this.bytes.getOrDefault(field, List.of(new byte[0])).getLast();
	}

	String text(int field) {
		return new String(bytes(field), UTF_8);
	}

	List<ProtoMessage> messages(int field) {
		return this.bytes.getOrDefault(field, List.of()).stream().map(ProtoMessage::new).toList();
	}

}
