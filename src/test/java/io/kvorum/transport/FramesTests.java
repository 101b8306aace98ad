package io.kvorum.transport;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Lineage.Ancestor;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.quorum.Reply.Refusal;
import io.kvorum.replication.Answered;
import io.kvorum.replication.Listed;
import io.kvorum.storage.DamagedEntryException;
import io.kvorum.storage.EntryFormat;
import io.kvorum.storage.Page;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Pages;
import io.kvorum.testing.SeededTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatRuntimeException;

/** Frames come out as they went in; what is none is noticed. */
class FramesTests {

	private static final int TIMES = 1_000;

	/** What follows the length. */
	private static ByteBuf written(Frame frame) {
		ByteBuf out = Unpooled.buffer();
		frame.writeHead(out);
		assertThat(out.readableBytes()).isEqualTo(frame.headBytes());
		out.writeBytes(frame.tail());
		assertThat(out.readInt()).isEqualTo(out.readableBytes());
		return out;
	}

	@SeededTest
	void anOperationComesOutAsItWentIn(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < TIMES; i++) {
			byte kind = (byte) random.below(random.chance(50) ? 256 : 12);
			boolean hasVersion = kind == ReplicaProtocol.PREPARE || kind == ReplicaProtocol.ACCEPT;
			OperationFrame in = new OperationFrame((int) random.anyLong(), kind, (int) random.anyLong(), random.key(),
					hasVersion ? random.version() : Version.ABSENT, random.bytes(random.below(100)));
			OperationFrame out = OperationFrame.read(written(in));

			assertThat(out.correlation).isEqualTo(in.correlation);
			assertThat(out.kind).isEqualTo(in.kind);
			assertThat(out.remainingMicros).isEqualTo(in.remainingMicros);
			assertThat(out.key).isEqualTo(in.key);
			assertThat(out.version).isEqualTo(in.version);
			assertThat(out.entry).isEqualTo(in.entry);
		}
	}

	@SeededTest
	void aReplyComesOutAsItWentIn(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < TIMES; i++) {
			Key key = random.key();
			int correlation = (int) random.anyLong();
			Reply in = reply(random);
			ReplyFrame out = ReplyFrame.read(written(ReplyFrame.of(correlation, key, in)));

			assertThat(out.correlation).isEqualTo(correlation);
			assertThat(out.toReply(key)).isEqualTo(in);
		}
	}

	private static Reply reply(Generator random) {
		return switch (random.below(7)) {
			case 0 -> Acknowledged.INSTANCE;
			case 1 -> Held.nothing();
			case 2 -> new Held(random.version(), null);
			case 3 -> Held.of(random.entry(random.version()));
			case 4 -> Held.of(random.entry(random.version()).under(random.version(), random.lineage()));
			case 5 -> new Refusal(random.version(), random.version()).toFailed();
			default -> new Failed(random.oneOf(List.of(Reason.values())), "Gr\u00fc\u00dfe " + random.below(100),
					random.chance(50), random.chance(50));
		};
	}

	private static String hex(Frame frame) {
		ByteBuf out = Unpooled.buffer();
		frame.writeHead(out);
		out.writeBytes(frame.tail());
		return ByteBufUtil.hexDump(out);
	}

	/** The bytes between nodes of different ages: they do not change. */
	@Test
	void aScanAndItsPageAreTheSameBytesAsEver() {
		ScanOrder order = new ScanOrder(KeyRange.of(new byte[] { 'a' }, new byte[] { 'c' }), Page.Limit.of(65_536, 10));
		Page.Builder page = new Page.Builder(order.limit());
		page.add(Generator.key("key"), new Tombstone(new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L), 3));

		assertThat(hex(new OperationFrame(7, ReplicaProtocol.SCAN, 1000, OperationFrame.NO_KEY, order.toBytes())))
			.isEqualTo("0000001c" + "00000007" + "06" + "000003e8" + "000100" + "000100000000000a" + "00004000"
					+ "000161" + "63");
		assertThat(hex(ReplyFrame.of(7, OperationFrame.NO_KEY, new Listed(page.build(true)))))
			.isEqualTo("00000035" + "00000007" + "18" + "0000000000000001" + "0000000000000000" + "0003000000176b6579"
					+ "02018bcfe568000007fedcba9876543210e124751f0103");
		assertThat(hex(ReplyFrame.of(7, OperationFrame.NO_KEY, new Listed(page.build(false)))))
			.contains("18" + "0000000000000000" + "0000000000000000");
	}

	@ParameterizedTest
	@CsvSource({ "1, PING", "2, READ", "3, READ_VERSION", "4, STORE", "5, REPAIR", "6, SCAN", "7, QUERY",
			"8, WRITE_BACK" })
	void anOperationIsTheSameBytesAsEver(byte kind) {
		assertThat(hex(new OperationFrame(7, kind, 1000, Generator.key("key"), new byte[] { 1, 2 })))
			.isEqualTo("00000010" + "00000007" + "0" + kind + "000003e8" + "0003" + "6b6579" + "0102");
	}

	@ParameterizedTest
	@CsvSource({ "9, PREPARE, 09", "10, ACCEPT, 0a" })
	void anOperationOfABallotIsTheSameBytesAsEver(byte kind, String name, String hex) {
		Version version = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);

		assertThat(hex(new OperationFrame(7, kind, 1000, Generator.key("key"), version, new byte[] { 1, 2 }))).as(name)
			.isEqualTo("00000020" + "00000007" + hex + "000003e8" + "0003" + "6b6579"
					+ "018bcfe568000007fedcba9876543210" + "0102");
	}

	/** Older peers take its reason for an internal error. */
	@Test
	void aRefusalIsTheSameBytesAsEverAndBeforeVersion6AFailureThatDidNothing() {
		Key key = Generator.key("key");
		Failed refused = new Refusal(new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L),
				new Version(0x018b_cfe5_6800_0001L, 2))
			.toFailed();

		assertThat(hex(ReplyFrame.of(7, key, refused))).isEqualTo("00000025" + "00000007" + "1a"
				+ "018bcfe568000007fedcba9876543210" + "018bcfe5680000010000000000000002");
		for (int version : new int[] { 4, 5 }) {
			assertThat(hex(ReplyFrame.of(7, key, refused, new EntryForm(version, 3))))
				.contains("00000007" + "15" + "000000000000000e" + "0000000000000002");
		}
		assertThat(Reason.ofCode(Reason.values().length + 1)).as("a code that a release does not know")
			.isEqualTo(Reason.INTERNAL);
	}

	@Test
	void anEntryUnderABallotIsTheSameBytesAsEver() {
		Version version = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);
		Entry entry = new Tombstone(version, 3).under(version,
				new Lineage(new Version(1, 2), true, false, List.of(new Ancestor(new Version(3, 4), new Version(3, 4)),
						new Ancestor(new Version(5, 6), new Version(7, 8)))));

		assertThat(hex(ReplyFrame.of(7, Generator.key("key"), Held.of(entry)))).isEqualTo("0000006e" + "00000007" + "12"
				+ "018bcfe568000007fedcba9876543210" + "02" + "018bcfe568000007fedcba9876543210" + "bf589f6e" + "05"
				+ "03" + "004a" + "00000000000000010000000000000002" + "00000000000000030000000000000004"
				+ "00000000000000050000000000000006" + "00000000000000070000000000000008");
	}

	@ParameterizedTest
	@CsvSource({ "4", "5" })
	void beforeVersion6EntriesHaveNoLineage(int version) {
		EntryForm form = new EntryForm(version, 3);
		Key key = Generator.key("key");
		Entry plain = Generator.live(new Version(9, 9), "value");
		Entry entry = plain.under(plain.version(), new Generator(1).lineage());
		Page page = Pages.of(new TreeMap<>(Map.of(key, entry)), KeyRange.all(), Page.Limit.of(1000, 10));
		Page plainPage = Pages.of(new TreeMap<>(Map.of(key, plain)), KeyRange.all(), Page.Limit.of(1000, 10));

		assertThat(form.written(key, EntryFormat.encode(key, entry)))
			.isEqualTo(form.written(key, EntryFormat.encode(key, plain)));
		assertThat(hex(ReplyFrame.of(7, key, Held.of(entry), form)))
			.isEqualTo(hex(ReplyFrame.of(7, key, Held.of(plain), form)));
		assertThat(hex(ReplyFrame.of(7, key, new Listed(page), form)))
			.isEqualTo(hex(ReplyFrame.of(7, key, new Listed(plainPage), form)));
		assertThat(hex(ReplyFrame.of(7, key, answer(page), form)))
			.isEqualTo(hex(ReplyFrame.of(7, key, answer(plainPage), form)));
		assertThat(hex(ReplyFrame.of(7, key, answer(page)))).as("in version 6")
			.endsWith(ByteBufUtil.hexDump(page.toBytes()));
	}

	private static Answered answer(Page page) {
		return Answered.withPage(ByteBuffer.allocate(1 + page.length()).put((byte) 1).put(page.toBytes()).array(), 1);
	}

	@ParameterizedTest
	@CsvSource({ "16, HELLO, 10", "17, PONG, 11", "20, ACKNOWLEDGED, 14", "22, TOO_LARGE, 16", "23, LEAVING, 17" })
	void aReplyOfOneWordIsTheSameBytesAsEver(byte kind, String name, String hex) {
		assertThat(hex(ReplyFrame.of(7, kind))).as(name)
			.isEqualTo("00000015" + "00000007" + hex + "0000000000000000" + "0000000000000000");
	}

	@Test
	void aReplyIsTheSameBytesAsEver() {
		Version version = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);
		String versionHex = "018bcfe568000007fedcba9876543210";
		Key key = Generator.key("key");

		assertThat(hex(ReplyFrame.of(7, key, Acknowledged.INSTANCE))).startsWith("00000015" + "00000007" + "14");
		assertThat(hex(ReplyFrame.of(7, key, new Held(version, null))))
			.isEqualTo("00000015" + "00000007" + "13" + versionHex);
		assertThat(hex(ReplyFrame.of(7, key, Held.of(new Tombstone(version, 3)))))
			.isEqualTo("0000002c" + "00000007" + "12" + versionHex + "02" + versionHex + "e124751f0103");
		assertThat(hex(ReplyFrame.of(7, key, Failed.unknown(Reason.TIMEOUT, "late"))))
			.isEqualTo("00000019" + "00000007" + "15" + "0000000000000006" + "0000000000000003" + "6c617465");
		assertThat(hex(ReplyFrame.of(7, key, new Answered(new byte[] { 9 }))))
			.isEqualTo("00000016" + "00000007" + "19" + "0000000000000000" + "0000000000000000" + "09");
	}

	/** To a node that speaks version 4; it has the number of copies, never a default. */
	@Test
	void inVersion4EntriesAreInFormat1() {
		EntryForm form = new EntryForm(4, 3);
		Version version = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);
		Key key = Generator.key("key");
		String format1 = "01018bcfe568000007fedcba98765432102f85d6c70103";
		for (Copies copies : List.of(Copies.DEFAULT, Copies.of(3))) {
			Entry entry = new Tombstone(version, copies);
			Page.Builder builder = new Page.Builder(Page.Limit.of(1000, 10));
			builder.add(key, entry);
			Page page = builder.build(true);

			assertThat(ByteBufUtil.hexDump(form.written(key, EntryFormat.encode(key, entry)))).isEqualTo(format1);
			assertThat(hex(ReplyFrame.of(7, key, Held.of(entry), form))).endsWith(format1);
			assertThat(hex(ReplyFrame.of(7, key, new Listed(page), form))).endsWith("6b6579" + format1);
			assertThat(hex(ReplyFrame.of(7, key, answer(page), form))).endsWith("6b6579" + format1);
			assertThat(ReplyFrame.read(written(ReplyFrame.of(7, key, Held.of(entry), form))).toReply(key, form))
				.isEqualTo(Held.of(new Tombstone(version, Copies.DEFAULT)));
		}
	}

	@SeededTest
	void theOrderOfAScanComesOutAsItWentIn(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < TIMES; i++) {
			byte[] start = random.bytes(random.below(random.chance(90) ? 20 : KeyRange.MAX_BOUND_BYTES + 1));
			byte @Nullable [] end = random.chance(50) ? null : random.bytes(1 + random.below(KeyRange.MAX_BOUND_BYTES));
			Page.Limit limit = Page.Limit.of(1 + random.below(Page.Limit.MAX_BYTES),
					1 + random.below(Integer.MAX_VALUE));
			ScanOrder out = ScanOrder.of(new ScanOrder(KeyRange.of(start, end), limit).toBytes());

			assertThat(out.range().start()).isEqualTo(start);
			assertThat(out.range().end()).isEqualTo(end);
			assertThat(out.limit()).isEqualTo(limit);
		}
	}

	@Test
	void aRangeThatEndsWithNoBytesHasNoKeysAtTheOtherEnd() {
		byte[] order = new ScanOrder(KeyRange.of(new byte[] { 'a' }, new byte[0]), Page.Limit.of(100, 10)).toBytes();

		assertThat(ScanOrder.of(order).range().end()).isEqualTo(ScanOrder.of(order).range().start());
	}

	@Test
	void whatIsNoOrderOfAScanIsNone() {
		byte[] order = new ScanOrder(KeyRange.of(new byte[] { 'a', 'b' }, null), Page.Limit.of(100, 10)).toBytes();
		for (int length = 0; length < order.length; length++) {
			byte[] part = Arrays.copyOf(order, length);
			assertThatRuntimeException().as("%d bytes", length).isThrownBy(() -> ScanOrder.of(part));
		}
		byte[] tooMuch = order.clone();
		tooMuch[0] = 1;
		assertThatRuntimeException().as("a page of 16 MB").isThrownBy(() -> ScanOrder.of(tooMuch));
		byte[] nothing = order.clone();
		nothing[7] = 0;
		assertThatRuntimeException().as("a page of no items").isThrownBy(() -> ScanOrder.of(nothing));
		byte[] tooLong = Arrays.copyOf(order, order.length + KeyRange.MAX_BOUND_BYTES + 1);
		assertThatRuntimeException().as("an end of 1026 bytes").isThrownBy(() -> ScanOrder.of(tooLong));
	}

	@SeededTest
	void aPageComesOutAsItWentIn(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 100; i++) {
			NavigableMap<Key, Entry> entries = new TreeMap<>();
			for (int item = random.below(20); item > 0; item--) {
				entries.put(random.key(), random.entry(random.version()));
			}
			Page in = Pages.of(entries, KeyRange.all(), Page.Limit.of(2_000, 10));
			Reply out = ReplyFrame.read(written(ReplyFrame.of(1, OperationFrame.NO_KEY, new Listed(in))))
				.toReply(OperationFrame.NO_KEY);

			assertThat(out).isInstanceOfSatisfying(Listed.class, listed -> {
				assertThat(listed.page().isLast()).isEqualTo(in.isLast());
				assertThat(listed.page().toBytes()).isEqualTo(in.toBytes());
			});
		}
	}

	@SeededTest
	void aPageThatWasDamagedOnItsWayIsAnErrorOfTheTwoThatAreExpected(long seed) {
		Generator random = new Generator(seed);
		NavigableMap<Key, Entry> entries = new TreeMap<>();
		for (int i = 0; i < 5; i++) {
			entries.put(random.key(), random.entry(random.version()));
		}
		ByteBuf whole = written(ReplyFrame.of(1, OperationFrame.NO_KEY,
				new Listed(Pages.of(entries, KeyRange.all(), Page.Limit.of(10_000, 10)))));
		int head = 1 + Integer.BYTES + 2 * Long.BYTES;
		for (int i = 0; i < TIMES; i++) {
			ByteBuf damaged = whole.copy();
			int at = head + random.below(damaged.readableBytes() - head);
			damaged.setByte(damaged.readerIndex() + at,
					damaged.getByte(damaged.readerIndex() + at) ^ (1 + random.below(255)));
			ReplyFrame frame = ReplyFrame.read(damaged);
			try {
				frame.toReply(OperationFrame.NO_KEY);
			}
			catch (IllegalArgumentException | DamagedEntryException _) {
				continue;
			}
			throw new AssertionError("taken for a page though byte %d was damaged".formatted(at));
		}
	}

	@Test
	void longWordsOfAFailureAreCutOff() {
		Reply reply = ReplyFrame
			.read(written(ReplyFrame.of(1, Generator.key("k"), Failed.notDone(Reason.INTERNAL, "x".repeat(10_000)))))
			.toReply(Generator.key("k"));

		assertThat(reply).isEqualTo(Failed.notDone(Reason.INTERNAL, "x".repeat(500)));
	}

	@Test
	void theEntryOfAnotherKeyIsDamaged() {
		Held held = Held.of(Generator.live(new Version(1, 1), "value"));
		ReplyFrame frame = ReplyFrame.of(1, Generator.key("one"), held);

		assertThatExceptionOfType(DamagedEntryException.class).isThrownBy(() -> frame.toReply(Generator.key("other")));
	}

	@Test
	void whatIsNoReplyIsNone() {
		for (byte kind : new byte[] { 0, ReplicaProtocol.HELLO, ReplicaProtocol.PONG, ReplicaProtocol.TOO_LARGE,
				ReplicaProtocol.REFUSED, 99 }) {
			ReplyFrame frame = ReplyFrame.read(written(ReplyFrame.of(1, kind)));
			assertThatIllegalStateException().isThrownBy(() -> frame.toReply(Generator.key("k")));
		}
	}

	@SeededTest
	void bytesOfChanceAreAFrameOrAnErrorAndReadNoMoreThanThere(long seed) {
		Generator random = new Generator(seed);
		List<Throwable> errors = new ArrayList<>();
		for (int i = 0; i < TIMES; i++) {
			byte[] bytes = random.bytes(random.below(40));
			try {
				OperationFrame.read(Unpooled.wrappedBuffer(bytes));
			}
			catch (RuntimeException ex) {
				errors.add(ex);
			}
			try {
				Objects.requireNonNull(ReplyFrame.read(Unpooled.wrappedBuffer(bytes)).toReply(Generator.key("k")));
			}
			catch (RuntimeException ex) {
				errors.add(ex);
			}
		}
		assertThat(errors).hasSizeGreaterThan(TIMES);
	}

}
