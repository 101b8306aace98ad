package io.kvorum.backup;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.regex.Pattern;

import io.kvorum.backup.BackupException.Kind;

/**
 * The name of a backup and of its directory. No character in it has a meaning to a file
 * system.
 */
public record BackupName(String text) {

	/** The suffix of an incomplete backup. Its dot keeps it apart from all names. */
	static final String PARTIAL = ".partial";

	private static final Pattern FORM = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

	private static final DateTimeFormatter BY_TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd-HHmmss-SSS")
		.withZone(ZoneOffset.UTC);

	/**
	 * Checks a name.
	 * @throws BackupException if it is no valid name; the message does not quote it
	 */
	public static BackupName of(String text) {
		if (!isOne(text)) {
			throw new BackupException(Kind.BAD_NAME,
					"The name of a backup has 1 to 63 lower-case letters, digits and hyphens, and does not begin with a hyphen.");
		}
		return new BackupName(text);
	}

	static boolean isOne(String text) {
		return FORM.matcher(text).matches();
	}

	/** The name of a backup that is made at this instant: the time in UTC. */
	static BackupName at(Instant instant) {
		return new BackupName(BY_TIME.format(instant));
	}

	@Override
	public String toString() {
		return this.text;
	}

}
