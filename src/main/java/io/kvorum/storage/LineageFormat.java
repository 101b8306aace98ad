package io.kvorum.storage;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

import io.kvorum.kv.Lineage;
import io.kvorum.kv.Lineage.Ancestor;
import io.kvorum.kv.Version;

/**
 * The layout of a {@link Lineage} in the bytes of an entry; numbers are big-endian.
 *
 * <pre>
 *  0      2          18        34
 *  bits   identity   version   [identity]   of each ancestor
 * </pre>
 *
 * The lowest three bits are the number of ancestors. The next one says whether the write
 * had a condition, the one after whether it was proposed again. Then follows one bit for
 * each ancestor, the nearest first: whether its identity differs from its version. Only
 * such an identity is there.
 */
final class LineageFormat {

	private static final int COUNT = 0b111;

	private static final int CONDITIONAL = 0b1000;

	private static final int PROPOSED_AGAIN = 0b10000;

	private static final int FIRST_IDENTITY = 5;

	private static final int VERSION_BYTES = 2 * Long.BYTES;

	private static final int ANCESTORS = Short.BYTES + VERSION_BYTES;

	/** The length of the longest lineage. */
	static final int MAX_BYTES = ANCESTORS + 2 * COUNT * VERSION_BYTES;

	private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

	private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);

	private LineageFormat() {
	}

	/** The length of a lineage, in bytes. */
	static int bytes(Lineage lineage) {
		return bytesOf(bits(lineage));
	}

	/** The length of the lineage that begins at an offset, in bytes. */
	static int bytes(byte[] from, int at) {
		return bytesOf((short) SHORT.get(from, at));
	}

	private static int bytesOf(int bits) {
		int identities = Integer.bitCount(bits >>> FIRST_IDENTITY);
		return ANCESTORS + ((bits & COUNT) + identities) * VERSION_BYTES;
	}

	private static int bits(Lineage lineage) {
		List<Ancestor> ancestors = lineage.ancestors();
		int bits = ancestors.size() | (lineage.isConditional() ? CONDITIONAL : 0)
				| (lineage.isProposedAgain() ? PROPOSED_AGAIN : 0);
		for (int i = 0; i < ancestors.size(); i++) {
			Ancestor ancestor = ancestors.get(i);
			bits |= ancestor.identity().equals(ancestor.version()) ? 0 : 1 << (FIRST_IDENTITY + i);
		}
		return bits;
	}

	static void write(Lineage lineage, byte[] to, int at) {
		int bits = bits(lineage);
		SHORT.set(to, at, (short) bits);
		int next = write(lineage.identity(), to, at + Short.BYTES);
		for (int i = 0; i < lineage.ancestors().size(); i++) {
			Ancestor ancestor = lineage.ancestors().get(i);
			next = write(ancestor.version(), to, next);
			if (hasIdentity(bits, i)) {
				next = write(ancestor.identity(), to, next);
			}
		}
	}

	private static int write(Version version, byte[] to, int at) {
		LONG.set(to, at, version.timestamp());
		LONG.set(to, at + Long.BYTES, version.node());
		return at + VERSION_BYTES;
	}

	/**
	 * Reads the lineage that begins at an offset.
	 * @throws IllegalArgumentException if there is none
	 * @throws IndexOutOfBoundsException if it is cut off
	 */
	static Lineage read(byte[] from, int at) {
		int bits = (short) SHORT.get(from, at);
		List<Ancestor> ancestors = new ArrayList<>(Lineage.MAX_ANCESTORS);
		int next = at + ANCESTORS;
		for (int i = 0; i < (bits & COUNT); i++) {
			Version version = version(from, next);
			next += VERSION_BYTES;
			Version identity = version;
			if (hasIdentity(bits, i)) {
				identity = version(from, next);
				next += VERSION_BYTES;
			}
			ancestors.add(new Ancestor(version, identity));
		}
		return new Lineage(version(from, at + Short.BYTES), (bits & CONDITIONAL) != 0, (bits & PROPOSED_AGAIN) != 0,
				ancestors);
	}

	private static boolean hasIdentity(int bits, int ancestor) {
		return (bits >>> (FIRST_IDENTITY + ancestor) & 1) != 0;
	}

	private static Version version(byte[] from, int at) {
		return new Version((long) LONG.get(from, at), (long) LONG.get(from, at + Long.BYTES));
	}

}
