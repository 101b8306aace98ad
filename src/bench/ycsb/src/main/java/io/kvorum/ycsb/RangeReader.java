package io.kvorum.ycsb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.BiConsumer;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads a range in the format {@code application/x-ndjson}: a line for each entry, and
 * one that says that it was all.
 */
final class RangeReader {

	private static final JsonMapper json = new JsonMapper();

	private RangeReader() {
	}

	/**
	 * Reads to the end.
	 * @param entries told of each key and value, in the order of the keys' bytes
	 * @throws IOException if the range broke off, is out of order, or counts differently
	 */
	static void read(InputStream body, BiConsumer<String, byte[]> entries) throws IOException {
		try (BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
			byte[] previous = {};
			int count = 0;
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				JsonNode node = json.readTree(line);
				if (node.path("end").asBoolean(false)) {
					require(node.path("count").asInt() == count, "another number of entries than it says");
					return;
				}
				String key = node.path("id").asString();
				byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
				require(Arrays.compareUnsigned(previous, bytes) < 0, "keys that are out of order");
				entries.accept(key, node.path("value").binaryValue());
				previous = bytes;
				count++;
			}
		}
		throw new IOException("a range broke off");
	}

	private static void require(boolean condition, String otherwise) throws IOException {
		if (!condition) {
			throw new IOException("a range has " + otherwise);
		}
	}

}
