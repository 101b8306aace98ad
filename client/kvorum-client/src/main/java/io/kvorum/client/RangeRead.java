package io.kvorum.client;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;

import io.kvorum.client.KvorumException.NoAnswer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One reading of a range: its lines, each once. It goes on at another node when the
 * connection breaks, from the last line on, and never ends before the line that says that
 * all has come.
 */
final class RangeRead implements Calls.StreamProgress {

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

	@Override
	public long passed() {
		return this.passed;
	}

	/** The lines that have not come yet, of one node. */
	Flux<Map<String, @Nullable Object>> from(Node node) {
		LineSplitter splitter = new LineSplitter(this.maxLine);
		return this.transport
			.stream(node, Requests.range(this.range, this.last, limit(), this.withValues), this.silence)
			.concatMapIterable(splitter::add, 1)
			.map(Json::object)
			.filter(this::isNew)
			.concatWith(Mono.defer(() -> this.hasEnded ? Mono.empty()
					: Mono.error(new NoAnswer("%s has ended a range too early".formatted(node), Outcome.NOT_APPLIED,
							node.url(), null))));
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
	static String nameOf(Map<String, @Nullable Object> line) {
		Object id = line.get("id");
		return Objects.requireNonNull((id != null) ? id : line.get("prefix"), "neither id nor prefix").toString();
	}

}
