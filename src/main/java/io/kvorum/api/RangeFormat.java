package io.kvorum.api;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.operation.RangePiece;
import io.kvorum.operation.RangePiece.Item;
import io.kvorum.wire.Chunks;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

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
			throw ProblemException.badRequest("bad-accept",
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
	 * requires. Only the chunks show where an entry ends.
	 */
	private static final class Plain extends RangeFormat {

		Plain() {
			super(MediaType.APPLICATION_OCTET_STREAM);
		}

		@Override
		ByteBuf encode(RangePiece piece) {
			long most = 0;
			for (Item item : piece.entries()) {
				most += lengthOf(item) + Chunks.MAX_FRAME_BYTES;
			}
			byte[] bytes = new byte[Math.toIntExact(most)];
			int at = 0;
			for (Item item : piece.entries()) {
				at = Chunks.begin(bytes, at, lengthOf(item));
				at = copy(item, bytes, at);
				at = Chunks.end(bytes, at);
			}
			return new Chunks(bytes, at);
		}

		private static int lengthOf(Item item) {
			return item.key().bytes().length + 1 + item.live().value().length();
		}

		private static int copy(Item item, byte[] bytes, int at) {
			byte[] key = item.key().bytes();
			System.arraycopy(key, 0, bytes, at, key.length);
			int valueAt = at + key.length + 1;
			bytes[valueAt - 1] = '\n';
			Value value = item.live().value();
			System.arraycopy(value.array(), value.offset(), bytes, valueAt, value.length());
			return valueAt + value.length();
		}

	}

	/**
	 * Encodes an entry as a JSON object on a line of its own. One more line says that the
	 * answer is complete.
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
				for (Item item : piece.entries()) {
					write(item, json);
				}
				this.count += piece.entries().size();
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
			for (Item item : piece.entries()) {
				most += 2L * item.key().bytes().length + item.live().contentType().length()
						+ 4L * (item.live().value().length() / 3 + 1) + BESIDE_THE_ENTRIES_BYTES;
			}
			return Math.toIntExact(most);
		}

		private static void write(Item item, JsonGenerator json) {
			Live live = item.live();
			Value value = live.value();
			json.writeStartObject();
			json.writeStringProperty("id", text(item.key()));
			json.writeStringProperty("version", live.identity().toHex());
			json.writeStringProperty("contentType", live.contentType());
			json.writeName("value");
			json.writeBinary(value.array(), value.offset(), value.length());
			json.writeEndObject();
			json.writeRaw('\n');
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
