package io.kvorum.api;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Folder;
import io.kvorum.operation.RangePiece.Head;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.operation.RangePiece.Line;
import io.kvorum.wire.Chunks;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * The encoding of a range in an answer. It counts entries, so each answer has its own.
 */
abstract sealed class RangeFormat {

	private static final MediaType NDJSON = new MediaType("application", "x-ndjson");

	private final MediaType mediaType;

	private RangeFormat(MediaType mediaType) {
		this.mediaType = mediaType;
	}

	/**
	 * Selects the format that a client prefers.
	 * @param accept its Accept headers
	 * @return null if it accepts none
	 * @throws ProblemException if they cannot be parsed
	 */
	static @Nullable RangeFormat of(List<String> accept) {
		List<MediaType> types = accepted(accept);
		if (types.isEmpty()) {
			return new Plain();
		}
		MediaType plain = liked(MediaType.APPLICATION_OCTET_STREAM, types);
		MediaType lines = liked(NDJSON, types);
		if (lines == null) {
			return (plain != null) ? new Plain() : null;
		}
		return (plain == null || isLikedBetter(lines, plain, types)) ? new Lines() : new Plain();
	}

	/**
	 * Returns the most specific media type of the client for a format; null if it does
	 * not accept it.
	 */
	private static @Nullable MediaType liked(MediaType format, List<MediaType> types) {
		return types.stream()
			.filter(type -> type.includes(format))
			.max(Comparator.comparingInt(RangeFormat::specificity))
			.filter(type -> type.getQualityValue() > 0)
			.orElse(null);
	}

	private static int specificity(MediaType type) {
		return (type.isWildcardType() ? 0 : 1) + (type.isWildcardSubtype() ? 0 : 1);
	}

	private static boolean isLikedBetter(MediaType one, MediaType other, List<MediaType> types) {
		return Comparator.comparingDouble(MediaType::getQualityValue)
			.thenComparingInt(RangeFormat::specificity)
			.thenComparing(types::indexOf, Comparator.reverseOrder())
			.compare(one, other) > 0;
	}

	private static List<MediaType> accepted(List<String> accept) {
		try {
			return MediaType.parseMediaTypes(accept);
		}
		catch (InvalidMediaTypeException ex) {
			throw ProblemException.badRequest(ProblemType.BAD_ACCEPT,
					"The header Accept cannot be read: " + ex.getMessage() + ".");
		}
	}

	MediaType mediaType() {
		return this.mediaType;
	}

	/** Encodes a piece; the result may be empty. */
	abstract ByteBuf encode(RangePiece piece);

	/**
	 * Encodes an entry as {@code <key>\n<value>} in a chunk of its own, as the protocol
	 * requires. Only the chunks show where an entry ends. A line without a value is
	 * {@code <key>\n}.
	 */
	private static final class Plain extends RangeFormat {

		Plain() {
			super(MediaType.APPLICATION_OCTET_STREAM);
		}

		@Override
		ByteBuf encode(RangePiece piece) {
			long most = 0;
			for (Line line : piece.lines()) {
				most += lengthOf(line) + Chunks.MAX_FRAME_BYTES;
			}
			byte[] bytes = new byte[Math.toIntExact(most)];
			int at = 0;
			for (Line line : piece.lines()) {
				at = Chunks.begin(bytes, at, lengthOf(line));
				at = copy(line, bytes, at);
				at = Chunks.end(bytes, at);
			}
			return new Chunks(bytes, at);
		}

		private static int lengthOf(Line line) {
			return line.key().bytes().length + 1 + ((line instanceof Item item) ? item.live().value().length() : 0);
		}

		private static int copy(Line line, byte[] bytes, int at) {
			byte[] key = line.key().bytes();
			System.arraycopy(key, 0, bytes, at, key.length);
			int valueAt = at + key.length + 1;
			bytes[valueAt - 1] = '\n';
			if (!(line instanceof Item item)) {
				return valueAt;
			}
			Value value = item.live().value();
			System.arraycopy(value.array(), value.offset(), bytes, valueAt, value.length());
			return valueAt + value.length();
		}

	}

	/**
	 * Encodes an entry, or a folder of them, as a JSON object on a line of its own. One
	 * more line says that the answer is complete.
	 */
	private static final class Lines extends RangeFormat {

		private static final JsonFactory JSON = JsonFactory.builder().rootValueSeparator("").build();

		/** The length of a line, without the key, the content type and the value. */
		private static final int BESIDE_THE_ENTRIES_BYTES = 100;

		private long count;

		Lines() {
			super(NDJSON);
		}

		@Override
		ByteBuf encode(RangePiece piece) {
			Bytes bytes = new Bytes(mostOf(piece));
			try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), bytes)) {
				for (Line line : piece.lines()) {
					json.writeStartObject();
					switch (line) {
						case Item item -> write(item, json);
						case Head head -> write(head, json);
						case Folder folder -> json.writeStringProperty("prefix", text(folder.key()));
					}
					json.writeEndObject();
					json.writeRaw('\n');
				}
				this.count += piece.lines().size();
				if (piece.last()) {
					close(piece.next(), json);
				}
			}
			return bytes.toBuffer();
		}

		/**
		 * Estimates the length; many escaped characters in keys or content types make it
		 * longer.
		 */
		private static int mostOf(RangePiece piece) {
			long most = BESIDE_THE_ENTRIES_BYTES;
			for (Line line : piece.lines()) {
				most += 2L * line.key().bytes().length + BESIDE_THE_ENTRIES_BYTES + switch (line) {
					case Item item -> item.live().contentType().length() + 4L * (item.live().value().length() / 3 + 1);
					case Head head -> head.contentType().length();
					case Folder _ -> 0;
				};
			}
			return Math.toIntExact(most);
		}

		private static void write(Item item, JsonGenerator json) {
			Live live = item.live();
			Value value = live.value();
			write(item.key(), live.identity(), live.contentType(), json);
			json.writeName("value");
			json.writeBinary(value.array(), value.offset(), value.length());
		}

		private static void write(Head head, JsonGenerator json) {
			write(head.key(), head.identity(), head.contentType(), json);
			json.writeNumberProperty("size", head.valueBytes());
			if (head.expiresAtMillis() != Live.NEVER) {
				json.writeStringProperty("expires", Instant.ofEpochMilli(head.expiresAtMillis()).toString());
			}
		}

		private static void write(Key key, Version identity, String contentType, JsonGenerator json) {
			json.writeStringProperty("id", text(key));
			json.writeStringProperty("version", identity.toHex());
			json.writeStringProperty("contentType", contentType);
		}

		private void close(@Nullable Key next, JsonGenerator json) {
			json.writeStartObject();
			json.writeBooleanProperty("end", true);
			json.writeNumberProperty("count", this.count);
			if (next != null) {
				json.writeStringProperty("next", text(next));
			}
			json.writeEndObject();
			json.writeRaw('\n');
		}

		/**
		 * Decodes a key, which is well-formed UTF-8: others are refused when they are
		 * written.
		 */
		private static String text(Key key) {
			return new String(key.bytes(), StandardCharsets.UTF_8);
		}

	}

	/** A stream that gives its bytes away without a copy. */
	private static final class Bytes extends ByteArrayOutputStream {

		Bytes(int capacity) {
			super(capacity);
		}

		ByteBuf toBuffer() {
			return Unpooled.wrappedBuffer(this.buf, 0, this.count);
		}

	}

}
