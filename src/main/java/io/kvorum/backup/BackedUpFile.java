package io.kvorum.backup;

import java.util.regex.Pattern;

/**
 * A file of a backup, directly in the backup's directory of files.
 *
 * @param sha256 of its bytes, in hexadecimal digits
 */
public record BackedUpFile(String name, long bytes, String sha256) {

	/**
	 * The names that the engine gives its files. None of them leads out of its directory.
	 */
	private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}");

	boolean hasSafeName() {
		return NAME.matcher(this.name).matches();
	}

}
