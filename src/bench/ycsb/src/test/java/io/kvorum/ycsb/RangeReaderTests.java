package io.kvorum.ycsb;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class RangeReaderTests {

	private static final String A = "{\"id\":\"t/a\",\"version\":\"01\",\"contentType\":\"x/y\",\"value\":\"aGVsbG8=\"}\n";

	private static final String B = "{\"id\":\"t/\\u0062\",\"version\":\"02\",\"contentType\":\"x/y\",\"value\":\"\"}\n";

	@Test
	void aWholeRangeIsReadInItsOrder() throws IOException {
		assertEquals(List.of("t/a=hello", "t/b="), read(A + B + "{\"end\":true,\"count\":2,\"next\":\"t/c\"}\n"));
	}

	@Test
	void anEmptyRangeIsWhole() throws IOException {
		assertEquals(List.of(), read("{\"end\":true,\"count\":0}\n"));
	}

	@Test
	void aRangeWithoutItsLastLineIsAnError() {
		assertThrows(IOException.class, () -> read(A + B));
		assertThrows(IOException.class, () -> read(""));
	}

	@Test
	void aRangeThatIsOutOfOrderOrMiscountedIsAnError() {
		assertThrows(IOException.class, () -> read(B + A + "{\"end\":true,\"count\":2}\n"));
		assertThrows(IOException.class, () -> read(A + A + "{\"end\":true,\"count\":2}\n"));
		assertThrows(IOException.class, () -> read(A + "{\"end\":true,\"count\":2}\n"));
	}

	private static List<String> read(String body) throws IOException {
		List<String> entries = new ArrayList<>();
		RangeReader.read(new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)),
				(key, value) -> entries.add(key + "=" + new String(value, StandardCharsets.UTF_8)));
		return entries;
	}

}
