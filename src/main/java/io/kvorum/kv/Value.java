package io.kvorum.kv;

import java.util.Arrays;
import java.util.Objects;

/**
 * The bytes of a live entry: {@link #length()} bytes of {@link #array()} from
 * {@link #offset()} on. It is a slice, so that it is served from the array it was read
 * into. The array must not be changed.
 */
public final class Value {

	private final byte[] array;

	private final int offset;

	private final int length;

	private Value(byte[] array, int offset, int length) {
		this.array = array;
		this.offset = offset;
		this.length = length;
	}

	public static Value of(byte[] bytes) {
		return new Value(bytes, 0, bytes.length);
	}

	/**
	 * The bytes of {@code array} from {@code from}, inclusive, to {@code to}, exclusive.
	 * @throws IndexOutOfBoundsException if the array does not have them
	 */
	public static Value slice(byte[] array, int from, int to) {
		Objects.checkFromToIndex(from, to, array.length);
		return new Value(array, from, to - from);
	}

	public byte[] array() {
		return this.array;
	}

	public int offset() {
		return this.offset;
	}

	/** The length in bytes. */
	public int length() {
		return this.length;
	}

	/** A copy of the bytes. */
	public byte[] toBytes() {
		return Arrays.copyOfRange(this.array, this.offset, this.offset + this.length);
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof Value value && Arrays.equals(this.array, this.offset, this.offset + this.length,
				value.array, value.offset, value.offset + value.length);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(toBytes());
	}

	@Override
	public String toString() {
		return "Value[" + this.length + " bytes]";
	}

}
