package io.kvorum.client;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.UnexpectedAnswer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;

/**
 * One reading of a range: its lines, each once. It goes on at another node when the
 * connection breaks, from the last line on, and never ends before the line that says that
 * all has come.
 */
final class RangeRead {

	private final Transport transport;

	private final Range range;

	private final boolean withValues;

	private final int maxLine;

	private final Duration silence;

	/** The last key or folder; null before the first. */
	private @Nullable String last;

	private long passed;

	private boolean hasEnded;

	/**
	 * A reading.
	 * @param maxLine the most bytes of a line
	 * @param silence the longest time in which nothing comes
	 */
	RangeRead(Transport transport, Range range, boolean withValues, int maxLine, Duration silence) {
		this.transport = transport;
		this.range = range;
		this.withValues = withValues;
		this.maxLine = maxLine;
		this.silence = silence;
	}

	/** The number of lines that have come. */
	long passed() {
		return this.passed;
	}

	/**
	 * The lines that have not come yet, of one node.
	 * @param left the time in which something of them must come, if it is less than the
	 * longest silence
	 */
	Flux<Map<String, @Nullable Object>> from(Node node, Duration left) {
		Duration patience = (left.compareTo(this.silence) < 0) ? left : this.silence;
		LineSplitter splitter = new LineSplitter(this.maxLine);
		return this.transport.stream(node, Requests.range(this.range, this.last, limit(), this.withValues), patience)
			.concatMapIterable(piece -> split(splitter, piece, node), 1)
			.map(line -> parsed(line, node))
			.filter(this::isNew)
			.concatWith(Mono.defer(() -> (this.hasEnded || this.passed == this.range.limit()) ? Mono.empty()
					: Mono.error(new NoAnswer("%s has ended a range too early".formatted(node), Outcome.NOT_APPLIED,
							node.url(), null, true))));
	}

	private List<byte[]> split(LineSplitter splitter, byte[] piece, Node node) {
		List<byte[]> lines = splitter.add(piece);
		if (lines == null) {
			throw this.transport.tooLarge(node.url(), "an entry of the range");
		}
		return lines;
	}

	private Map<String, @Nullable Object> parsed(byte[] json, Node node) {
		try {
			Map<String, @Nullable Object> line = Json.object(json);
			String missing = missing(line);
			if (missing != null) {
				throw unexpected("a line of a range has no " + missing, node);
			}
			read(line);
			return line;
		}
		catch (JacksonException ex) {
			throw unexpected("a line of a range is no JSON: " + ex.getMessage(), node);
		}
		catch (IllegalArgumentException | ClassCastException | DateTimeParseException ex) {
			throw unexpected("a line of a range cannot be read: " + ex.getMessage(), node);
		}
	}

	/** Puts what the texts in a line stand for in their place. */
	private static void read(Map<String, @Nullable Object> line) {
		line.computeIfPresent("value", (name, text) -> Base64.getDecoder().decode(text.toString()));
		line.computeIfPresent("size", (name, number) -> ((Number) number).longValue());
		line.computeIfPresent("expires", (name, text) -> Instant.parse(text.toString()));
	}

	/** What a line should have, be it the last one, a folder or an entry. */
	private @Nullable String missing(Map<String, @Nullable Object> line) {
		if (Boolean.TRUE.equals(line.get("end")) || (!this.withValues && line.get("prefix") != null)) {
			return null;
		}
		return Stream.of("id", "version", "contentType", this.withValues ? "value" : "size")
			.filter(name -> line.get(name) == null)
			.findFirst()
			.orElse(null);
	}

	private static UnexpectedAnswer unexpected(String why, Node node) {
		return new UnexpectedAnswer(new Problem("none", 200, why, Outcome.NOT_APPLIED, false, null, 0, 0, List.of()),
				node.url());
	}

	/** One more than are left, as the last line comes again unless it was removed. */
	private long limit() {
		long limit = this.range.limit();
		return (limit == Long.MAX_VALUE) ? limit : limit - this.passed + ((this.last != null) ? 1 : 0);
	}

	private boolean isNew(Map<String, @Nullable Object> line) {
		if (Boolean.TRUE.equals(line.get("end"))) {
			this.hasEnded = true;
			return false;
		}
		String name = nameOf(line);
		if (name.equals(this.last) || this.passed == this.range.limit()) {
			return false;
		}
		this.last = name;
		this.passed++;
		return true;
	}

	/** The key of a line, or the folder. */
	private static String nameOf(Map<String, @Nullable Object> line) {
		Object id = line.get("id");
		return Objects.requireNonNull((id != null) ? id : line.get("prefix")).toString();
	}

}
