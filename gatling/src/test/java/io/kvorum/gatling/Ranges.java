package io.kvorum.gatling;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.HttpRequestActionBuilder;

import static io.gatling.javaapi.core.CoreDsl.bodyBytes;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.roundRobinSwitch;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.header;
import static io.gatling.javaapi.http.HttpDsl.http;

/**
 * Reads a hundred neighbours at a time, of which nothing is missing, twice there or out
 * of order; half of the users in chunks, half as lines. A node runs few ranges at the
 * same time and refuses more, so that a tenth of the users come.
 */
public class Ranges extends KvorumSimulation {

	private static final String LINES = "application/x-ndjson";

	private static final int ENTRIES = 100;

	private static final double SHARE = 0.1;

	public Ranges() {
		super(Ranges::workload);
	}

	static Workload workload(Settings settings) {
		int entries = Math.min(ENTRIES, settings.keys());
		return Workload
			.of(scenario("Ranges").feed(bounds(settings, entries))
				.exec(roundRobinSwitch().on(exec(chunks(settings, entries)), exec(lines(settings, entries)))),
					KeySet.READ)
			.atShare(SHARE);
	}

	private static Iterator<Map<String, Object>> bounds(Settings settings, int entries) {
		Random random = new Random(settings.seed());
		return Stream.generate(() -> random.nextInt(settings.keys() - entries + 1))
			.map(number -> Map.<String, Object>of("number", number, "start", KeySet.READ.key(number), "end",
					KeySet.READ.key(number + entries)))
			.iterator();
	}

	private static HttpRequestActionBuilder chunks(Settings settings, int entries) {
		Values values = new Values(settings);
		return range("range: chunks").checkIf((response, session) -> response.status().code() == 200)
			.then(bodyBytes().validate(entries + " entries",
					(found, session) -> checkChunks(found, expected(values, entries, session))));
	}

	private static HttpRequestActionBuilder lines(Settings settings, int entries) {
		Values values = new Values(settings);
		return range("range: lines").header("Accept", LINES)
			.checkIf((response, session) -> response.status().code() == 200)
			.then(bodyString().validate(entries + " entries",
					(found, session) -> checkLines(found, expected(values, entries, session))));
	}

	private static HttpRequestActionBuilder range(String name) {
		return http(name).get("/v0/entities")
			.queryParam("start", "#{start}")
			.queryParam("end", "#{end}")
			.check(Entities.statusOf(200), header("Transfer-Encoding").is("chunked"));
	}

	private static List<Entry> expected(Values values, int entries, Session session) {
		int first = session.getInt("number");
		return IntStream.range(first, first + entries)
			.mapToObj(KeySet.READ::key)
			.map(key -> new Entry(key, values.of(key, 0)))
			.toList();
	}

	private static byte[] checkChunks(byte[] found, List<Entry> expected) {
		int at = 0;
		for (int i = 0; i < expected.size(); i++) {
			byte[] chunk = expected.get(i).chunk();
			int end = Math.min(at + chunk.length, found.length);
			requireEntry(i, Arrays.equals(found, at, end, chunk, 0, chunk.length));
			at = end;
		}
		if (at < found.length) {
			throw Answers.wrong("%d bytes too many".formatted(found.length - at));
		}
		return found;
	}

	private static String checkLines(String found, List<Entry> expected) {
		List<String> lines = found.lines().toList();
		if (lines.isEmpty() || !lines.getLast().startsWith("{\"end\":true,")) {
			throw Answers.wrong("no closing line");
		}
		int entries = lines.size() - 1;
		if (entries != expected.size() || !lines.getLast().contains("\"count\":%d}".formatted(entries))) {
			throw Answers.wrong("%d entries, and %s".formatted(entries, lines.getLast()));
		}
		for (int i = 0; i < entries; i++) {
			requireEntry(i, expected.get(i).isOn(lines.get(i)));
		}
		return found;
	}

	private static void requireEntry(int index, boolean isThere) {
		if (!isThere) {
			throw Answers.wrong("entry %d is missing, wrong or out of order".formatted(index));
		}
	}

	private record Entry(String key, byte[] value) {

		byte[] chunk() {
			byte[] line = (this.key + "\n").getBytes(StandardCharsets.UTF_8);
			return ByteBuffer.allocate(line.length + this.value.length).put(line).put(this.value).array();
		}

		boolean isOn(String line) {
			String base64 = Base64.getEncoder().encodeToString(this.value);
			return line.startsWith("{\"id\":\"%s\",".formatted(this.key))
					&& line.endsWith(",\"value\":\"%s\"}".formatted(base64));
		}

	}

}
