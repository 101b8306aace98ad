package io.kvorum.api;

import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

import io.kvorum.kv.Version;
import io.kvorum.operation.Condition.Tags;
import org.jspecify.annotations.Nullable;

/**
 * Reads the entity-tags of one header, and writes them (RFC 9110, section 8.8.3). Several
 * lines of the header are one list.
 * <p>
 * A tag that this API has never given is read and matches nothing. What is no list of
 * tags is refused: a condition that is read wrongly could allow a write that it forbids.
 */
final class EntityTags {

	/**
	 * The most tags of one header. Its length has no limit of its own, since all header
	 * lines of a request have one together.
	 */
	static final int MAX_TAGS = 100;

	private static final int VERSION_DIGITS = 32;

	private static final int MAX_EXCERPT_CHARACTERS = 40;

	private static final char QUOTE = '"';

	private static final String WEAK = "W/";

	private final String header;

	/** Whether weak tags match like strong ones. */
	private final boolean weakMatch;

	private final Set<Version> versions = new HashSet<>();

	/** The number of tags, also of those that match nothing. */
	private int count;

	private boolean any;

	private EntityTags(String header, boolean weakMatch) {
		this.header = header;
		this.weakMatch = weakMatch;
	}

	/** Writes the tag of a value, with its quotes. */
	static String format(Version identity) {
		return QUOTE + identity.toHex() + QUOTE;
	}

	/**
	 * Reads tags that are compared strongly, as {@code If-Match} demands: a weak tag
	 * matches nothing.
	 * @throws ProblemException if the lines are no list of tags
	 */
	static Tags strong(String header, List<String> lines) {
		return new EntityTags(header, false).read(lines);
	}

	/**
	 * Reads tags that are compared weakly, as {@code If-None-Match} demands: a weak tag
	 * matches like a strong one.
	 * @throws ProblemException if the lines are no list of tags
	 */
	static Tags weak(String header, List<String> lines) {
		return new EntityTags(header, true).read(lines);
	}

	private Tags read(List<String> lines) {
		lines.forEach(this::read);
		if (!this.any) {
			if (this.count == 0) {
				throw malformed("is empty");
			}
			return new Tags(false, this.versions);
		}
		if (this.count > 1) {
			throw malformed("has '*' beside something else, and '*' stands alone");
		}
		return Tags.ANY;
	}

	/** Reads one line. Empty elements of a list are allowed (RFC 9110, section 5.6.1). */
	private void read(String line) {
		int at = skipSpace(line, 0);
		while (at < line.length()) {
			if (line.charAt(at) != ',') {
				int end = skipSpace(line, readElement(line, at));
				if (end < line.length() && line.charAt(end) != ',') {
					throw malformed("has no comma before " + excerpt(line, end));
				}
				at = end;
			}
			at = skipSpace(line, at + 1);
		}
	}

	/** Reads a tag or {@code *}; returns the index after it. */
	private int readElement(String line, int start) {
		this.count++;
		if (this.count > MAX_TAGS) {
			throw malformed("has more than %d entity-tags, the limit".formatted(MAX_TAGS));
		}
		if (line.charAt(start) == '*') {
			this.any = true;
			return start + 1;
		}
		boolean weak = line.startsWith(WEAK, start);
		int quote = weak ? start + WEAK.length() : start;
		if (quote == line.length() || line.charAt(quote) != QUOTE) {
			throw malformed("has %s, which is no entity-tag in quotes".formatted(excerpt(line, start)));
		}
		int end = endOfTag(line, start, quote + 1);
		Version version = (weak && !this.weakMatch) ? null : version(line, quote + 1, end);
		if (version != null) {
			this.versions.add(version);
		}
		return end + 1;
	}

	/** Returns the index of the closing quote. */
	private int endOfTag(String line, int start, int from) {
		for (int i = from; i < line.length(); i++) {
			char c = line.charAt(i);
			if (c == QUOTE) {
				return i;
			}
			if (c <= ' ' || c == '\u007f') {
				throw malformed("has %s, and an entity-tag has no spaces or control characters inside its quotes"
					.formatted(excerpt(line, start)));
			}
		}
		throw malformed("has %s, which has no closing quote".formatted(excerpt(line, start)));
	}

	/** Returns the version that a tag stands for; null if it was not written here. */
	private static @Nullable Version version(String line, int from, int to) {
		if (to - from != VERSION_DIGITS) {
			return null;
		}
		for (int i = from; i < to; i++) {
			char c = line.charAt(i);
			if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
				return null;
			}
		}
		int middle = from + VERSION_DIGITS / 2;
		return new Version(HexFormat.fromHexDigitsToLong(line, from, middle),
				HexFormat.fromHexDigitsToLong(line, middle, to));
	}

	private static int skipSpace(String line, int from) {
		int at = from;
		while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) {
			at++;
		}
		return at;
	}

	private static String excerpt(String line, int from) {
		int to = from + MAX_EXCERPT_CHARACTERS;
		return (to < line.length()) ? line.substring(from, to) + "…" : line.substring(from);
	}

	private ProblemException malformed(String what) {
		return ProblemException.badRequest(ProblemType.BAD_CONDITION,
				("The header %s %s. Send '%1$s: \"<etag>\"' with an ETag as an answer had it, quotes included; "
						+ "several of them with commas between them; or '%1$s: *'. Nothing was done.")
					.formatted(this.header, what));
	}

}
