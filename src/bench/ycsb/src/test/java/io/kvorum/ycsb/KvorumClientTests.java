package io.kvorum.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.Vector;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests against running nodes, in a table of its own. */
@EnabledIfSystemProperty(named = KvorumClient.URLS, matches = ".+")
class KvorumClientTests {

	private final String table = "test-" + UUID.randomUUID();

	/** One for each node. */
	private final List<KvorumClient> clients = new ArrayList<>();

	@BeforeEach
	void connect() throws DBException {
		Properties properties = new Properties();
		properties.setProperty(KvorumClient.URLS, System.getProperty(KvorumClient.URLS));
		properties.setProperty("fieldcount", "3");
		for (int i = 0; i < System.getProperty(KvorumClient.URLS).split(",").length; i++) {
			KvorumClient client = new KvorumClient();
			client.setProperties(properties);
			client.init();
			this.clients.add(client);
		}
	}

	@AfterEach
	void disconnect() throws DBException {
		for (KvorumClient client : this.clients) {
			client.cleanup();
		}
	}

	@Test
	void whatWasWrittenAtOneNodeIsReadAtAllOfThem() {
		for (KvorumClient writer : this.clients) {
			assertEquals(Status.OK, writer.insert(this.table, "k 1+%", record("a", "1", "b", "ü", "c", "")));
			assertReads(Map.of("a", "1", "b", "ü", "c", ""), "k 1+%", null);
			assertEquals(Status.OK, writer.update(this.table, "k 1+%", record("b", "2")));
			assertReads(Map.of("a", "1", "b", "2", "c", ""), "k 1+%", null);
			assertReads(Map.of("b", "2"), "k 1+%", Set.of("b"));
			assertEquals(Status.OK, writer.update(this.table, "k 1+%", record("a", "x", "b", "y", "c", "z")));
			assertReads(Map.of("a", "x", "b", "y", "c", "z"), "k 1+%", null);
			assertEquals(Status.OK, writer.delete(this.table, "k 1+%"));
			for (KvorumClient reader : this.clients) {
				assertEquals(Status.NOT_FOUND, reader.read(this.table, "k 1+%", null, new HashMap<>()));
			}
			assertEquals(Status.NOT_FOUND, writer.update(this.table, "k 1+%", record("b", "2")));
		}
	}

	@Test
	void aScanHasTheNextRecordsOfItsTableInTheOrderOfTheirKeys() {
		List<Integer> numbers = new ArrayList<>(IntStream.range(0, 300).boxed().toList());
		Collections.shuffle(numbers);
		for (int number : numbers) {
			KvorumClient writer = this.clients.get(number % this.clients.size());
			assertEquals(Status.OK, writer.insert(this.table, key(number), record("n", String.valueOf(number))));
		}
		assertEquals(Status.OK, this.clients.getFirst().insert(this.table + "x", key(0), record("n", "other")));
		assertEquals(Status.OK, this.clients.getFirst().insert(this.table + "0", key(0), record("n", "other")));
		for (KvorumClient reader : this.clients) {
			assertEquals(expected(0, 300), scanned(reader, 0, 1000));
			assertEquals(expected(0, 100), scanned(reader, 0, 100));
			assertEquals(expected(123, 124), scanned(reader, 123, 1));
			assertEquals(expected(250, 300), scanned(reader, 250, 100));
			assertEquals(Status.NOT_FOUND, reader.scan(this.table, key(300), 10, null, new Vector<>()));
		}
	}

	private List<String> scanned(KvorumClient reader, int from, int count) {
		Vector<HashMap<String, ByteIterator>> result = new Vector<>();
		assertEquals(Status.OK, reader.scan(this.table, key(from), count, null, result));
		return result.stream().map(fields -> fields.get("n").toString()).toList();
	}

	private static List<String> expected(int from, int to) {
		return IntStream.range(from, to).mapToObj(String::valueOf).toList();
	}

	private static String key(int number) {
		return "user%05d".formatted(number);
	}

	private void assertReads(Map<String, String> expected, String key, Set<String> fields) {
		for (KvorumClient reader : this.clients) {
			Map<String, ByteIterator> result = new HashMap<>();
			assertEquals(Status.OK, reader.read(this.table, key, fields, result));
			Map<String, String> actual = new HashMap<>();
			result.forEach((name, value) -> actual.put(name, new String(value.toArray(), StandardCharsets.UTF_8)));
			assertEquals(expected, actual);
		}
	}

	/** Makes new values each time: reading a value of YCSB consumes it. */
	private static Map<String, ByteIterator> record(String... namesAndValues) {
		Map<String, ByteIterator> fields = new HashMap<>();
		for (int i = 0; i < namesAndValues.length; i += 2) {
			fields.put(namesAndValues[i],
					new ByteArrayByteIterator(namesAndValues[i + 1].getBytes(StandardCharsets.UTF_8)));
		}
		return fields;
	}

}
