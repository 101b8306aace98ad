package io.kvorum.backup;

import java.util.regex.Pattern;

/**
 * A file of a backup, right below its directory of files.
 *
 * @param sha256 of its bytes, in hexadecimal digits
 */
public record BackedUpFile(String name, long bytes, String sha256) {

	/** What the engine names its files; no way leads out of a directory with it. */
	private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}");

	boolean hasSafeName() {
		return NAME.matcher(this.name).matches();
	}

}
