package io.kvorum.process;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Generator;
import io.kvorum.testing.KvorumClient;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.Poll;
import io.kvorum.testing.RangeAnswer;
import io.kvorum.testing.RangeEntry;
import io.kvorum.testing.RangeRequest;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.RawRequest;
import io.kvorum.testing.SeededTest;
import io.kvorum.testing.SharedNode;
import io.kvorum.testing.SortedEntries;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(SharedNode.class)
@DisplayName("Ranges on one node")
class RangeApiIT {

	private static final Duration EXPIRY_DEADLINE = Duration.ofSeconds(30);

	@Test
	@DisplayName("200, sorted, start included, end excluded; a chunk is an entry")
	void sorted(NodeProcess node) {
		SortedEntries stored = put(node.client(), "sorted", "d", "b", "a", "ab", "c");

		RangeAnswer answer = RangeRequest.from("sorted/ab").to("sorted/d").read(node.port());
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.header("Content-Type")).isEqualTo("application/octet-stream");
		assertThat(answer.header("Transfer-Encoding")).isEqualTo("chunked");
		assertThat(answer.header("Content-Length")).isEmpty();
		assertThat(answer.entries()).isEqualTo(stored.between("sorted/ab", "sorted/d"));
		assertThat(answer.isWhole()).isTrue();
	}

	@Test
	@DisplayName("bounds that are no keys: what lies between them")
	void boundsBetweenKeys(NodeProcess node) {
		SortedEntries stored = put(node.client(), "between", "a", "b", "ba", "c");

		assertThat(RangeRequest.from("between/a\0").to("between/b\0").read(node.port()).entries())
			.isEqualTo(stored.between("between/b", "between/ba"));
	}

	@Test
	@DisplayName("no end: to the last key there is")
	void noEnd(NodeProcess node) {
		SortedEntries stored = put(node.client(), "\udbff\udfff no end", "a", "b");

		assertWhole(RangeRequest.from("\udbff\udfff no end").read(node.port()), stored);
		assertWhole(RangeRequest.from("\udbff\udfff no end").lines().read(node.port()), stored);
	}

	@Test
	@DisplayName("nothing in it, or an end that is the start: 200, whole, and empty")
	void empty(NodeProcess node) {
		put(node.client(), "empty", "a");

		for (RangeRequest request : List.of(RangeRequest.below("empty/a"), RangeRequest.from("empty/a").to("empty/a"),
				RangeRequest.from("\udbff\udfff\udbff\udfff"))) {
			for (RangeRequest any : inAllWays(request)) {
				assertWhole(any.read(node.port()), new SortedEntries());
			}
		}
	}

	@Test
	@DisplayName("lines: id, version, type and value of each entry as a GET has them; the last one counts them")
	void lines(NodeProcess node) {
		SortedEntries stored = put(node.client(), "lines", "a", "b", "é\u2028\"\\\t");
		for (String type : List.of("text/plain;charset=utf-8", "text/x; a=\"quo\\\"ted\"", "image/png")) {
			byte[] value = new Generator(type.length()).bytes(300);
			node.client().putAs(type, "lines/typed " + type.length(), value);
			stored.put("lines/typed " + type.length(), value);
		}

		RangeAnswer answer = RangeRequest.below("lines").lines().read(node.port());
		assertThat(answer.header("Content-Type")).isEqualTo(RangeRequest.NDJSON);
		assertThat(answer.header("Transfer-Encoding")).isEqualTo("chunked");
		assertWhole(answer, stored);
		assertThat(answer.next()).isEmpty();
		for (RangeEntry entry : answer.entries()) {
			Answer get = node.client().get(entry.key());
			assertThat(get.header("ETag")).isEqualTo('"' + entry.version() + '"');
			assertThat(get.header("Content-Type")).isEqualTo(entry.contentType());
			assertThat(get.body()).isEqualTo(entry.value());
		}
	}

	@Test
	@DisplayName("A listing by prefix, folded by a separator, without values: keys, folders, and sizes of values of any length")
	void listing(NodeProcess node) {
		KvorumClient client = node.client();
		client.put("list/a", "value");
		client.put("list/b/1", "value");
		client.put("list/b/2", "value");
		client.putAs("image/png", "list/large", new Generator(1).bytes(100_000));
		client.exchange("PUT", "/v0/entity?id=list/short&ttl=1h");
		client.put("lisu", "value");

		Answer keys = client.exchange("GET", "/v0/entities?prefix=list/&values=false");
		assertThat(keys.text()).isEqualTo("list/a\nlist/b/1\nlist/b/2\nlist/large\nlist/short\n");
		assertThat(client.exchange("GET", "/v0/entities?prefix=list/&separator=/&values=false").text())
			.isEqualTo("list/a\nlist/b/\nlist/large\nlist/short\n");
		assertThat(client.exchange("GET", "/v0/entities?prefix=list/b/").text())
			.isEqualTo("list/b/1\nvaluelist/b/2\nvalue");
		assertThat(client.exchange("GET", "/v0/entities?prefix=list/none&values=false").status()).isEqualTo(200);
		List<String> lines = client
			.exchange("GET", "/v0/entities?prefix=list/&separator=/&values=false&start=list/b&limit=3", "Accept",
					RangeRequest.NDJSON)
			.text()
			.lines()
			.toList();
		assertThat(lines).hasSize(4);
		assertThat(lines.get(0)).isEqualTo("{\"prefix\":\"list/b/\"}");
		assertThat(lines.get(1)).matches(
				"\\{\"id\":\"list/large\",\"version\":\"[0-9a-f]{32}\",\"contentType\":\"image/png\",\"size\":100000}");
		assertThat(lines.get(2)).matches(
				"\\{\"id\":\"list/short\",\"version\":\"[0-9a-f]{32}\",\"contentType\":\"[^\"]+\",\"size\":0,\"expires\":\"20[^\"]+Z\"}");
		assertThat(lines.get(3)).isEqualTo("{\"end\":true,\"count\":3}");
	}

	@ParameterizedTest(name = "Accept: {0}")
	@ValueSource(strings = { "", "*/*", "application/octet-stream", "application/*" })
	@DisplayName("Accept of the chunk format, of anything, or none: chunks")
	void defaultFormat(String accept, NodeProcess node) {
		SortedEntries stored = put(node.client(), "formats", "a", "b");

		RangeAnswer answer = RangeRequest.below("formats").accepting(accept).read(node.port());
		assertThat(answer.header("Content-Type")).isEqualTo("application/octet-stream");
		assertWhole(answer, stored);
	}

	@ParameterizedTest(name = "Accept: {0}")
	@ValueSource(strings = { "text/plain", "application/json", "image/*", "text/html, application/xml" })
	@DisplayName("Accept of other formats only: 406")
	void noSuchFormat(String accept, NodeProcess node) {
		RangeAnswer answer = RangeRequest.from("a").accepting(accept).read(node.port());

		EntityApiIT.assertProblem(answer.problem(), 406);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?", "?start", "?start=", "?end=b", "?limit=1", "?START=a", "?start=b&end=a",
			"?start=a&end=", "?start=a&end", "?start=%C3%A9&end=z", "?start=a%00&end=a",
			"?start=%F0%90%80%80&end=%EF%BF%BF", "?start=a&limit=0", "?start=a&limit=-1", "?start=a&limit=",
			"?start=a&limit", "?start=a&limit=x", "?start=a&limit=1.5", "?start=a&limit=0x1", "?start=a&limit=1e3",
			"?start=a&limit=%201", "?start=a&limit=1%00", "?start=a&limit=%EF%BC%91", "?start=a&scope=",
			"?start=a&scope", "?start=a&scope=all", "?start=a&scope=Node", "?start=a&scope=node,cluster",
			"?start=a&scope=node%20", "?start=a&start=a", "?start=a&start=b", "?start=a&end=b&end=b",
			"?start=a&limit=1&limit=1", "?start=a&scope=node&scope=node" })
	@DisplayName("start missing or empty, end before start, no such limit or scope, anything twice: 400")
	void impossibleParameters(String query, KvorumClient client) {
		EntityApiIT.assertProblem(client.exchange("GET", "/v0/entities" + query), 400);
		EntityApiIT.assertProblem(client.exchange("GET", "/v0/entities" + query, "Accept", RangeRequest.NDJSON), 400);
	}

	@ParameterizedTest
	@ValueSource(strings = { "%", "%4", "a%zz", "%+1", "%FF", "%80", "%C3", "%C3%28", "%C0%80", "%E0%80%AF",
			"%ED%A0%80", "%F4%90%80%80" })
	@DisplayName("a bound that is ill-formed: 400")
	void illFormed(String bound, NodeProcess node) {
		for (String query : List.of("start=" + bound, "start=%00&end=" + bound)) {
			EntityApiIT.assertProblem(RawRequest.send(node.port(), "GET", "/v0/entities?" + query), 400);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "get" })
	@DisplayName("another method than GET: 405, and Allow says so")
	void otherMethods(String method, KvorumClient client) {
		put(client, "methods", "a");

		Answer answer = client.exchange(method, RangeRequest.below("methods").target());
		assertThat(answer.status()).isEqualTo(405);
		assertThat(answer.header("Allow")).isEqualTo("GET");
		assertThat(client.get("methods/a").status()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v0/entities/", "/v0/entities/a", "/v0/entitiesx?start=a", "/v0//entities?start=a" })
	@DisplayName("a path beside it: 400, as for all that do not exist")
	void otherPaths(String path, KvorumClient client) {
		EntityApiIT.assertProblem(client.exchange("GET", path), 400);
	}

	@Test
	@DisplayName("keys of 1024 bytes, and bounds of up to 1025: what comes right behind the longest key; longer ones are 400")
	void longestKeys(NodeProcess node) {
		SortedEntries stored = put(node.client(), "longest", "k".repeat(1015), "k".repeat(1016), "é".repeat(508),
				"k".repeat(1015) + "l");

		assertWhole(RangeRequest.below("longest").read(node.port()), stored);
		for (String key : stored.keys()) {
			RangeRequest behind = RangeRequest.from(key + "\0").to("longest0");
			assertThat(behind.read(node.port()).entries()).isEqualTo(stored.between(key + "\0", "longest0"));
			RangeRequest upTo = RangeRequest.from("longest/").to(key + "\0");
			assertThat(upTo.read(node.port()).entries()).isEqualTo(stored.between("longest/", key + "\0"));
		}
		EntityApiIT.assertProblem(RangeRequest.from("k".repeat(1026)).read(node.port()).problem(), 400);
		EntityApiIT.assertProblem(RangeRequest.from("k").to("k".repeat(1026)).read(node.port()).problem(), 400);
		EntityApiIT.assertProblem(RangeRequest.from("é".repeat(513)).read(node.port()).problem(), 400);
	}

	@Test
	@DisplayName("newlines in keys and values, empty values, values that look like entries or chunks, keys that begin with keys: each in its own frame")
	void frames(NodeProcess node) {
		SortedEntries stored = new SortedEntries();
		for (String key : List.of("k", "k\n", "\n", "\n\n", "k\nv", "kk", "k\0", "\0", "\u007f", "\r\n", "0\r\n\r\n",
				"5\r\nhello\r\n", "{\"end\":true,\"count\":0}", "\"", "\\", "%0A")) {
			for (String value : List.of("", "\n", "v\nk", "\r\n0\r\n\r\n", "\n\n\n", "\0")) {
				String whole = "frames/" + key + value.length();
				assertThat(node.client().put(whole, value).status()).isEqualTo(201);
				stored.put(whole, RangeEntry.of(whole, value));
			}
		}

		for (RangeRequest request : inAllWays(RangeRequest.below("frames"))) {
			assertWhole(request.read(node.port()), stored);
		}
		assertThat(RangeRequest.below("frames").lines().read(node.port()).keys()).isEqualTo(stored.keys());
	}

	@Test
	@DisplayName("keys of all planes: in the order of their bytes, which is not that of Java's chars")
	void planes(NodeProcess node) {
		SortedEntries stored = put(node.client(), "planes",
				Stream
					.of(0, 1, 0x20, 0x7e, 0x7f, 0x80, 0xff, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff,
							0x10000, 0x1f511, 0x2ffff, 0xe0001, 0x10ffff)
					.map(Character::toString)
					.toArray(String[]::new));

		assertThat(stored.keys()).isNotEqualTo(stored.keys().stream().sorted().toList());
		for (RangeRequest request : inAllWays(RangeRequest.below("planes"))) {
			assertWhole(request.read(node.port()), stored);
		}
		for (String key : stored.keys()) {
			assertThat(RangeRequest.from(key).to("planes0").read(node.port()).entries())
				.isEqualTo(stored.between(key, "planes0"));
		}
	}

	@Test
	@DisplayName("values of any size, side by side: none is cut, none meets its neighbour")
	void sizes(NodeProcess node) {
		SortedEntries stored = new SortedEntries();
		IntStream sizes = IntStream.concat(IntStream.of(0, 1, 2, 255, 4096, 32_768, 65_535, 65_536, 65_537, 1 << 20),
				IntStream.iterate(16_200, size -> size <= 16_500, size -> size + (nearLimit(size) ? 1 : 9)));
		Generator generator = new Generator(1);
		sizes.forEach(size -> {
			String key = "sizes/%07d".formatted(size);
			byte[] value = generator.bytes(size);
			assertThat(node.client().put(key, value).status()).isEqualTo(201);
			stored.put(key, value);
		});

		for (RangeRequest request : inAllWays(RangeRequest.below("sizes"))) {
			assertWhole(request.read(node.port()), stored);
		}
	}

	private static boolean nearLimit(int size) {
		return size >= 16_300 && size < 16_400;
	}

	@Test
	@DisplayName("what is deleted or has expired is not in it; what is written again is, with its new value")
	void deletedAndExpired(NodeProcess node) throws InterruptedException {
		SortedEntries stored = put(node.client(), "gone", "kept", "overwritten", "recreated");
		put(node.client(), "gone", "deleted");
		node.client().delete("gone/deleted");
		node.client().delete("gone/never there");
		node.client().delete("gone/recreated");
		for (String key : List.of("gone/overwritten", "gone/recreated", "gone/lasting")) {
			node.client().put(key, "new", "ttl=1h");
			stored.put(key, RangeEntry.of(key, "new"));
		}
		node.client().put("gone/expiring", "value", "ttl=1s");

		Poll.until(() -> "the entry has expired", EXPIRY_DEADLINE,
				() -> node.client().get("gone/expiring").status() == 404);
		for (RangeRequest request : inAllWays(RangeRequest.below("gone"))) {
			assertWhole(request.read(node.port()), stored);
		}
	}

	@Test
	@DisplayName("limit: so many and no more; lines say where to go on, but only where there is more")
	void limit(NodeProcess node) {
		SortedEntries stored = put(node.client(), "limit", "a", "b", "c", "d", "e");

		for (int limit = 1; limit <= 7; limit++) {
			List<RangeEntry> expected = stored.all().subList(0, Math.min(limit, 5));
			String next = (limit < 5) ? stored.keys().get(limit) : "";
			for (RangeRequest request : inAllWays(RangeRequest.below("limit").limit(limit))) {
				RangeAnswer answer = request.read(node.port());
				assertThat(answer.isWhole()).isTrue();
				assertThat(answer.entries()).isEqualTo(expected);
				assertThat(answer.next()).isEqualTo(request.accept().isEmpty() ? "" : next);
			}
		}
	}

	@Test
	@DisplayName("limit: what comes behind it and is deleted or beyond the end is nothing to go on with")
	void limitBeforeNothing(NodeProcess node) {
		SortedEntries stored = put(node.client(), "limited", "a", "b");
		put(node.client(), "limited", "c", "d");
		node.client().delete("limited/c");

		RangeAnswer answer = RangeRequest.from("limited/").to("limited/d").limit(2).lines().read(node.port());
		assertWhole(answer, stored);
		assertThat(answer.next()).isEmpty();
	}

	@SeededTest
	@DisplayName("pieces of any limit, one behind the other, in both formats: together they are the whole")
	void pieces(long seed, NodeProcess node) {
		Generator generator = new Generator(seed);
		String name = "pieces " + seed;
		SortedEntries stored = new SortedEntries();
		for (int i = 0; i < 150; i++) {
			String key = name + "/" + Character.toString(0x20 + generator.below(0x60)).repeat(1 + generator.below(3))
					+ Integer.toString(generator.below(500), 36);
			byte[] value = generator
				.bytes(generator.chance(10) ? 10_000 + generator.below(20_000) : generator.below(50));
			assertThat(node.client().put(key, value).status()).isEqualTo(201);
			stored.put(key, value);
		}

		RangeRequest lines = RangeRequest.from(name + "/").lines();
		assertThat(walk(node, lines, name, generator)).isEqualTo(stored.all());
		assertThat(walk(node, lines.atNode(), name, generator)).isEqualTo(stored.all());
		assertThat(walk(node, RangeRequest.from(name + "/"), name, generator)).isEqualTo(stored.all());
	}

	/** In the chunk format it goes on right behind the last key, until nothing comes. */
	private static List<RangeEntry> walk(NodeProcess node, RangeRequest way, String name, Generator generator) {
		Stream.Builder<RangeEntry> all = Stream.builder();
		for (String start = name + "/"; !start.isEmpty();) {
			RangeRequest request = RangeRequest.from(start)
				.to(name + "0")
				.limit(1 + generator.below(40))
				.accepting(way.accept());
			RangeAnswer answer = (way.target().contains("scope") ? request.atNode() : request).read(node.port());
			assertThat(answer.isWhole()).isTrue();
			answer.entries().forEach(all);
			if (!way.accept().isEmpty()) {
				start = answer.next();
			}
			else {
				start = answer.entries().isEmpty() ? "" : answer.keys().getLast() + "\0";
			}
		}
		return all.build().toList();
	}

	@Test
	@DisplayName("keep-alive: behind a range, an empty one or a refused one the connection takes other requests, pipelined too")
	void keepAlive(NodeProcess node) {
		SortedEntries stored = put(node.client(), "alive", "a", "b");
		String get = "GET " + KvorumClient.entity("alive/a") + " HTTP/1.1\r\nHost: a\r\n\r\n";

		try (RawHttp connection = RawHttp.connect(node.port())) {
			for (RangeRequest request : inAllWays(RangeRequest.below("alive"))) {
				assertWhole(request.read(connection), stored);
				assertThat(connection.exchange(get)).extracting(Response::body).containsExactly("value of alive/a");
				assertThat(request.with("limit=0").read(connection).status()).isEqualTo(400);
				assertThat(connection.exchange(get)).extracting(Response::status).containsExactly(200);
				assertWhole(RangeRequest.from("alive/x").to("alive/x").accepting(request.accept()).read(connection),
						new SortedEntries());
			}
			String range = "GET " + RangeRequest.below("alive").target() + " HTTP/1.1\r\nHost: a\r\n\r\n";
			connection.send(range + get + range);
			List<Response> responses = Stream.of(1, 2, 3).map(_ -> requireNonNull(connection.read())).toList();
			assertThat(responses.get(0).body()).isEqualTo(responses.get(2).body()).contains("value of alive/b");
			assertThat(responses.get(1).body()).isEqualTo("value of alive/a");
		}
	}

	@Test
	@DisplayName("Connection: close: a whole range, and then the connection ends")
	void connectionClose(NodeProcess node) {
		put(node.client(), "close", "a", "b");

		try (RawHttp connection = RawHttp.connect(node.port())) {
			connection.send("GET " + RangeRequest.below("close").target()
					+ " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
			assertThat(connection.readUntilClosed()).extracting(Response::body)
				.containsExactly("close/a\nvalue of close/aclose/b\nvalue of close/b");
		}
	}

	private static List<RangeRequest> inAllWays(RangeRequest request) {
		return List.of(request, request.lines(), request.atNode(), request.atNode().lines(),
				request.with("scope=cluster"));
	}

	private static SortedEntries put(KvorumClient client, String name, String... keys) {
		SortedEntries stored = new SortedEntries();
		Arrays.stream(keys).map(key -> name + "/" + key).forEach(key -> {
			assertThat(client.put(key, "value of " + key).status()).as(key).isEqualTo(201);
			stored.put(key, RangeEntry.of(key, "value of " + key));
		});
		return stored;
	}

	private static void assertWhole(RangeAnswer answer, SortedEntries stored) {
		assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
		assertThat(stored.differenceTo(answer.entries())).isEmpty();
		assertThat(answer.isWhole()).isTrue();
	}

}
