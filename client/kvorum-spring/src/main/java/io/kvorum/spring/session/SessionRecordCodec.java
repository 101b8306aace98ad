package io.kvorum.spring.session;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;

import io.kvorum.client.Codec;
import io.kvorum.spring.session.SessionRecord.StoredAttribute;

/**
 * A session as bytes, which is what lies on the disks of the nodes: the version of this
 * format; when it was created and last accessed, and how long it may be inactive, in
 * milliseconds, 8 bytes each; the number of attributes; of each its name, its content
 * type and its bytes, each with its length in front. Numbers have 4 bytes unless told
 * otherwise, the highest first; texts are UTF-8.
 */
final class SessionRecordCodec implements Codec<SessionRecord> {

	static final String CONTENT_TYPE = "application/vnd.kvorum.session";

	private static final int FORMAT = 1;

	@Override
	public String contentType() {
		return CONTENT_TYPE;
	}

	@Override
	public byte[] encode(SessionRecord session) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream out = new DataOutputStream(bytes)) {
			out.writeByte(FORMAT);
			out.writeLong(session.created().toEpochMilli());
			out.writeLong(session.lastAccessed().toEpochMilli());
			out.writeLong(session.maxInactive().toMillis());
			out.writeInt(session.attributes().size());
			for (Map.Entry<String, StoredAttribute> attribute : session.attributes().entrySet()) {
				write(out, attribute.getKey().getBytes(StandardCharsets.UTF_8));
				write(out, attribute.getValue().contentType().getBytes(StandardCharsets.UTF_8));
				write(out, attribute.getValue().value());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return bytes.toByteArray();
	}

	private static void write(DataOutputStream out, byte[] bytes) throws IOException {
		out.writeInt(bytes.length);
		out.write(bytes);
	}

	@Override
	public SessionRecord decode(byte[] value, String contentType) {
		if (!contentType.startsWith(CONTENT_TYPE)) {
			throw new IllegalArgumentException("this is no session, but " + contentType);
		}
		try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
			int format = in.readByte();
			if (format != FORMAT) {
				throw new IllegalArgumentException(
						"the session has format %d, and this reads %d".formatted(format, FORMAT));
			}
			Instant created = Instant.ofEpochMilli(in.readLong());
			Instant lastAccessed = Instant.ofEpochMilli(in.readLong());
			Duration maxInactive = Duration.ofMillis(in.readLong());
			Map<String, StoredAttribute> attributes = new TreeMap<>();
			for (int rest = in.readInt(); rest > 0; rest--) {
				attributes.put(text(in), new StoredAttribute(text(in), bytes(in)));
			}
			return new SessionRecord(created, lastAccessed, maxInactive, attributes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("the session is cut off", ex);
		}
	}

	private static String text(DataInputStream in) throws IOException {
		return new String(bytes(in), StandardCharsets.UTF_8);
	}

	private static byte[] bytes(DataInputStream in) throws IOException {
		int length = in.readInt();
		if (length < 0 || length > in.available()) {
			throw new IOException("a part of %d bytes, of which %d are there".formatted(length, in.available()));
		}
		return in.readNBytes(length);
	}

}
