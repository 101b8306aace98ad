package io.kvorum.testing;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.kvorum.testing.RawHttp.Response;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * A range that is being read, entry by entry, off the wire: that one chunk is one entry,
 * and whether an answer ends or is broken off, shows in the framing only. Nobody reads
 * ahead for it but the system.
 */
public final class RangeReader implements AutoCloseable {

	private static final JsonMapper JSON = new JsonMapper();

	private final RawHttp connection;

	private final Response head;

	private final Format format;

	private final List<RangeEntry> entries = new ArrayList<>();

	private boolean ended;

	private boolean whole;

	private String next = "";

	private RangeReader(RawHttp connection, Response head) {
		this.connection = connection;
		this.head = (head.status() == 200) ? head : connection.readBody(head);
		this.format = RangeRequest.NDJSON.equals(head.header("Content-Type")) ? new Lines() : this::nextChunk;
		this.ended = head.status() != 200;
	}

	static RangeReader on(RawHttp connection, RangeRequest request) {
		return new RangeReader(connection, connection.send(request.head()).readStatus());
	}

	public int status() {
		return this.head.status();
	}

	/** The next entry; null where none comes any more, for whichever reason. */
	public @Nullable RangeEntry next() {
		RangeEntry entry = this.ended ? null : this.format.next();
		if (entry == null) {
			this.ended = true;
			return null;
		}
		this.entries.add(entry);
		return entry;
	}

	/** Reads so many entries, which have to be there. */
	public RangeReader read(int count) {
		for (int i = 0; i < count; i++) {
			if (next() == null) {
				throw new AssertionError("It ended where there should be more: " + answer());
			}
		}
		return this;
	}

	/** Reads to the end; returns all that has been read, before too. */
	public RangeAnswer rest() {
		while (next() != null) {
			// read
		}
		return answer();
	}

	private RangeAnswer answer() {
		return new RangeAnswer(this.head, List.copyOf(this.entries), this.whole, this.next);
	}

	/** Closes the connection by a reset. */
	public void reset() {
		this.connection.reset();
	}

	@Override
	public void close() {
		this.connection.close();
	}

	private @Nullable RangeEntry nextChunk() {
		byte[] chunk = this.connection.readChunk();
		this.whole = chunk != null && chunk.length == 0;
		return (chunk == null || chunk.length == 0) ? null : RangeEntry.ofChunk(chunk);
	}

	private interface Format {

		@Nullable RangeEntry next();

	}

	/** Lines, in chunks of any size. */
	private final class Lines implements Format {

		private byte[] chunk = new byte[0];

		private int at;

		private long count;

		@Override
		public @Nullable RangeEntry next() {
			Map<String, Object> line = line();
			if (line == null) {
				return null;
			}
			if (line.containsKey("id")) {
				this.count++;
				return RangeEntry.ofLine(line);
			}
			end(line);
			return null;
		}

		/** The last line: it says how many there were, and nothing comes behind it. */
		private void end(Map<String, Object> line) {
			if (!Boolean.TRUE.equals(line.get("end")) || !(line.get("count") instanceof Number counted)
					|| counted.longValue() != this.count) {
				throw new AssertionError("The last line, behind %d entries, is %s".formatted(this.count, line));
			}
			RangeReader.this.next = (line.get("next") instanceof String key) ? key : "";
			if (this.at < this.chunk.length) {
				throw new AssertionError("There is something behind the last line");
			}
			byte[] last = RangeReader.this.connection.readChunk();
			if (last != null && last.length > 0) {
				throw new AssertionError("There is a chunk behind the last line");
			}
			RangeReader.this.whole = last != null;
		}

		/** The next line; null where the connection was broken off before its end. */
		private @Nullable Map<String, Object> line() {
			ByteArrayOutputStream line = new ByteArrayOutputStream();
			while (true) {
				if (this.at == this.chunk.length) {
					byte[] following = RangeReader.this.connection.readChunk();
					if (following == null) {
						return null;
					}
					if (following.length == 0) {
						throw new AssertionError("The body ends as if it were whole, without a last line");
					}
					this.chunk = following;
					this.at = 0;
				}
				int from = this.at;
				while (this.at < this.chunk.length && this.chunk[this.at] != '\n') {
					this.at++;
				}
				line.write(this.chunk, from, this.at - from);
				if (this.at < this.chunk.length) {
					this.at++;
					return JSON.readValue(line.toByteArray(), new TypeReference<Map<String, Object>>() {
					});
				}
			}
		}

	}

}
