package io.kvorum.api;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Folder;
import io.kvorum.operation.RangePiece.Head;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import io.kvorum.wire.Chunks;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which format a client gets, and what it looks like. */
class RangeFormatTests {

	private static final String PLAIN = "application/octet-stream";

	private static final String LINES = "application/x-ndjson";

	private static final Version VERSION = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);

	private static RangeFormat format(String... accept) {
		RangeFormat format = RangeFormat.of(List.of(accept));
		if (format == null) {
			throw new AssertionError("there is no format for " + Arrays.toString(accept));
		}
		return format;
	}

	private static Item item(String key, byte... value) {
		return new Item(Generator.key(key), new Live(VERSION, 3, Live.NEVER, "text/plain", Value.of(value)));
	}

	/** An entry that was proposed again, under a ballot that is not its identity. */
	private static Item proposedAgain(String key, byte... value) {
		Live written = new Live(VERSION, 3, Live.NEVER, "text/plain", Value.of(value));
		return new Item(Generator.key(key), (Live) written.again(new Version(VERSION.timestamp() + 1, 1)));
	}

	private static RangePiece piece(Item... items) {
		return new RangePiece(List.of(items), false, null);
	}

	private static byte[] encoded(RangeFormat format, RangePiece piece) {
		ByteBuf buffer = format.encode(piece);
		byte[] bytes = ByteBufUtil.getBytes(buffer);
		buffer.release();
		return bytes;
	}

	private static List<String> lines(RangeFormat format, RangePiece piece) {
		String text = new String(encoded(format, piece), StandardCharsets.UTF_8);
		assertThat(text.isEmpty() || text.endsWith("\n")).as("each line has its end").isTrue();
		return text.lines().toList();
	}

	/** Several headers are parted by |. */
	@ParameterizedTest
	@CsvSource(nullValues = "none", delimiter = ';',
			value = { "*/*; application/octet-stream", "application/*; application/octet-stream",
					"application/octet-stream; application/octet-stream", "application/x-ndjson; application/x-ndjson",
					"APPLICATION/X-NDJSON; application/x-ndjson", "text/html, */*; application/octet-stream",
					"application/x-ndjson, */*; application/x-ndjson",
					"*/*, application/x-ndjson; application/x-ndjson",
					"application/octet-stream, application/x-ndjson; application/octet-stream",
					"application/x-ndjson, application/octet-stream; application/x-ndjson",
					"'application/x-ndjson;q=0.5, application/octet-stream'; application/octet-stream",
					"'application/octet-stream;q=0.5, application/x-ndjson;q=0.9'; application/x-ndjson",
					"'application/x-ndjson;q=0.001'; application/x-ndjson",
					"'application/x-ndjson;q=0, */*'; application/octet-stream",
					"'application/octet-stream;q=0, */*'; application/x-ndjson",
					"'application/octet-stream;q=0.1, */*;q=0.2'; application/x-ndjson",
					"'application/octet-stream;q=0, application/*;q=0.1'; application/x-ndjson",
					"'text/*, application/*;q=0.1'; application/octet-stream",
					"text/html|application/x-ndjson; application/x-ndjson",
					"'application/x-ndjson;q=0.1|application/octet-stream;q=0.2'; application/octet-stream",
					"''; application/octet-stream", "text/html; none", "text/*; none", "application/json; none",
					"'*/*;q=0'; none", "'application/octet-stream;q=0'; none",
					"'application/octet-stream;q=0, application/x-ndjson;q=0, */*'; none" })
	void theFormatIsTheOneThatTheClientLikesBest(String accept, @Nullable String chosen) {
		RangeFormat format = RangeFormat.of(List.of(accept.split("\\|", -1)));

		assertThat((format != null) ? format.mediaType().toString() : null).isEqualTo(chosen);
	}

	@Test
	void whoDoesNotSayGetsWhatTheProtocolHas() {
		RangeFormat format = RangeFormat.of(List.of());

		assertThat(format).isNotNull();
		assertThat(String.valueOf((format != null) ? format.mediaType() : null)).isEqualTo(PLAIN);
	}

	@ParameterizedTest
	@ValueSource(strings = { "garbage", "a/b/c", "/", "*/json", "application/octet-stream;q=7",
			"application/octet-stream;q=x", "application/x-ndjson, \u0001/b", "a/b;charset=nonsense" })
	void whatCannotBeReadIsABadRequest(String accept) {
		assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> RangeFormat.of(List.of(accept)))
			.matches(ex -> ex.problem().type() == ProblemType.BAD_ACCEPT);
	}

	@Test
	void aLongListIsReadToItsEnd() {
		List<String> accept = new ArrayList<>(Collections.nCopies(200, "text/html"));
		accept.add(LINES);

		assertThat(format(String.join(",", accept)).mediaType()).hasToString(LINES);
		assertThat(format(accept.toArray(String[]::new)).mediaType()).hasToString(LINES);
	}

	@Test
	void anEntryIsAChunkOfItsKeyALineFeedAndItsValue() {
		byte[] bytes = encoded(format(PLAIN), piece(item("key", (byte) 'v'), item("k2"), item("k3", (byte) '\n')));

		assertThat(bytes).asString(StandardCharsets.ISO_8859_1)
			.isEqualTo(String.join("\r\n", "5", "key\nv", "3", "k2\n", "4", "k3\n\n", ""));
	}

	@Test
	void aLineWithoutAValueIsAKeyAndALineFeed() {
		Head head = new Head(Generator.key("key"), VERSION, "text/plain", 1_000, Live.NEVER);
		RangePiece piece = new RangePiece(List.of(head, new Folder(Generator.key("a/"))), false, null);

		assertThat(encoded(format(PLAIN), piece)).asString(StandardCharsets.ISO_8859_1)
			.isEqualTo(String.join("\r\n", "4", "key\n", "3", "a/\n", ""));
	}

	@Test
	void aLineWithoutAValueSaysHowLongThatIsAndWhenItExpires() {
		RangePiece piece = new RangePiece(
				List.of(new Head(Generator.key("key"), VERSION, "text/plain", 1_000, Live.NEVER),
						new Head(Generator.key("key 2"), VERSION, "text/plain", 0, 1_700_000_000_123L),
						new Folder(Generator.key("\u00fc\"/")),
						new Item(Generator.key("v"), Generator.live(VERSION, "ab", 1_700_000_000_000L))),
				true, null);

		assertThat(lines(format(LINES), piece)).containsExactly(
				"{\"id\":\"key\",\"version\":\"018bcfe568000007fedcba9876543210\",\"contentType\":\"text/plain\",\"size\":1000}",
				"{\"id\":\"key 2\",\"version\":\"018bcfe568000007fedcba9876543210\",\"contentType\":\"text/plain\",\"size\":0,\"expires\":\"2023-11-14T22:13:20.123Z\"}",
				"{\"prefix\":\"\u00fc\\\"/\"}",
				"{\"id\":\"v\",\"version\":\"018bcfe568000007fedcba9876543210\",\"contentType\":\"text/plain\",\"value\":\"YWI=\"}",
				"{\"end\":true,\"count\":4}");
	}

	@Test
	void aPieceWithoutEntriesIsNoChunkWhichWouldEndTheAnswer() {
		assertThat(encoded(format(PLAIN), piece())).isEmpty();
		assertThat(encoded(format(PLAIN), new RangePiece(List.of(), true, null))).isEmpty();
		assertThat(encoded(format(LINES), piece())).isEmpty();
	}

	@Test
	void chunksAreForTheEncoderAsTheyAre() {
		ByteBuf chunks = format(PLAIN).encode(piece(item("key")));

		assertThat(chunks).isInstanceOf(Chunks.class);
		chunks.release();
	}

	/** Of values that are slices too. */
	@SeededTest
	void whateverIsTakenApartAgainIsWhatWasPutTogether(long seed) {
		Generator random = new Generator(seed);
		List<Item> items = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			byte[] around = random.bytes(random.below(random.chance(90) ? 300 : 70_000));
			int from = random.below(around.length + 1);
			Value value = Value.slice(around, from, from + random.below(around.length - from + 1));
			items.add(new Item(random.key(), new Live(random.version(), 1, Live.NEVER, "x/y", value)));
		}
		byte[] bytes = encoded(format(PLAIN), new RangePiece(List.copyOf(items), false, null));
		int at = 0;
		for (Item item : items) {
			int line = at;
			while (bytes[line] != '\r') {
				line++;
			}
			int length = HexFormat.fromHexDigits(new String(bytes, at, line - at, StandardCharsets.US_ASCII));
			byte[] key = item.key().bytes();
			byte[] value = item.live().value().toBytes();
			ByteArrayOutputStream expected = new ByteArrayOutputStream();
			expected.writeBytes(key);
			expected.write('\n');
			expected.writeBytes(value);
			assertThat(Arrays.copyOfRange(bytes, line + 2, line + 2 + length)).isEqualTo(expected.toByteArray());
			assertThat(Arrays.copyOfRange(bytes, line + 2 + length, line + 4 + length))
				.isEqualTo(new byte[] { '\r', '\n' });
			at = line + 4 + length;
		}
		assertThat(at).isEqualTo(bytes.length);
	}

	@Test
	void anEntryIsALineOfJson() {
		assertThat(lines(format(LINES), piece(proposedAgain("key", (byte) 0xca, (byte) 0xfe), item("empty"))))
			.containsExactly(
					"{\"id\":\"key\",\"version\":\"018bcfe568000007fedcba9876543210\",\"contentType\":\"text/plain\",\"value\":\"yv4=\"}",
					"{\"id\":\"empty\",\"version\":\"018bcfe568000007fedcba9876543210\",\"contentType\":\"text/plain\",\"value\":\"\"}");
	}

	@Test
	void theLastLineSaysHowManyThereWereInAllPiecesAndWhereToGoOn() {
		RangeFormat format = format(LINES);
		assertThat(lines(format, piece(item("a"), item("b")))).hasSize(2);
		assertThat(lines(format, new RangePiece(List.of(item("c")), true, Generator.key("d \"quoted\"")))).last()
			.isEqualTo("{\"end\":true,\"count\":3,\"next\":\"d \\\"quoted\\\"\"}");
		assertThat(lines(format(LINES), new RangePiece(List.of(), true, null)))
			.containsExactly("{\"end\":true,\"count\":0}");
	}

	@ParameterizedTest
	@ValueSource(strings = { "\"", "\\", "\n", "\r\n", "\t", "\u0000", "\u001f", "\u007f", "/", "\u00e9", "\u2028",
			"\uD83D\uDE00", "\uD83D\uDE00\uD83D\uDE00", "a\uD83D\uDE00b", "\uDBFF\uDFFF", "\uFFFF", "{\"end\":true}" })
	void everyKeyIsOneLineThatSaysTheSameAgain(String key) {
		List<String> lines = lines(format(LINES), piece(item(key, (byte) 1)));

		assertThat(lines).hasSize(1);
		JsonNode json = JsonMapper.shared().readTree(lines.getFirst());
		assertThat(json.get("id").asString()).isEqualTo(key);
	}

	@SeededTest
	void everyKeyOfTextAndEveryValueComesBackFromItsLine(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 300; i++) {
			String key = text(random);
			byte[] value = random.bytes(random.below(100));
			Live live = new Live(random.version(), 1, Live.NEVER, "text/\u00e9\u00ff\"", Value.of(value));
			List<String> lines = lines(format(LINES),
					piece(new Item(Key.of(key.getBytes(StandardCharsets.UTF_8)), live)));
			assertThat(lines).hasSize(1);
			JsonNode json = JsonMapper.shared().readTree(lines.getFirst());

			assertThat(json.get("id").asString()).isEqualTo(key);
			assertThat(json.get("value").binaryValue()).isEqualTo(value);
			assertThat(json.get("contentType").asString()).isEqualTo(live.contentType());
			assertThat(json.get("version").asString()).isEqualTo(live.version().toHex()).hasSize(32);
		}
	}

	private static String text(Generator random) {
		StringBuilder text = new StringBuilder();
		int length = 1 + random.below(20);
		Stream.generate(() -> random.below(random.chance(50) ? 0x80 : Character.MAX_CODE_POINT + 1))
			.filter(point -> point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE)
			.limit(length)
			.forEach(text::appendCodePoint);
		return text.toString();
	}

}
