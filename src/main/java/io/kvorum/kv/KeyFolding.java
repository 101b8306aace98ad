package io.kvorum.kv;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * Folds keys into folders, as paths of files are: keys that are equal up to the first
 * separator behind a prefix are in one folder.
 */
public final class KeyFolding {

	private final int from;

	private final byte[] separator;

	/**
	 * The folders behind a prefix.
	 * @param separator not empty; must not be changed afterwards
	 */
	public KeyFolding(byte[] prefix, byte[] separator) {
		if (separator.length == 0) {
			throw new IllegalArgumentException("an empty separator");
		}
		this.from = prefix.length;
		this.separator = separator;
	}

	/**
	 * The folder of a key: its bytes up to the first separator behind the prefix, with
	 * that.
	 * @return null if the key is in none
	 */
	public @Nullable Key folderOf(Key key) {
		byte[] bytes = key.bytes();
		for (int end = this.from + this.separator.length; end <= bytes.length; end++) {
			int at = end - this.separator.length;
			if (Arrays.equals(bytes, at, end, this.separator, 0, this.separator.length)) {
				return Key.of(Arrays.copyOf(bytes, end));
			}
		}
		return null;
	}

}
