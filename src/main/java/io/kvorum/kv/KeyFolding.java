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
		int end = endOfFolder(bytes);
		return (end > 0) ? Key.of(Arrays.copyOf(bytes, end)) : null;
	}

	/** Whether these bytes are a folder, and nothing behind it. */
	public boolean isFolder(byte[] bytes) {
		return endOfFolder(bytes) == bytes.length;
	}

	/** The length of the folder that bytes begin with; 0 if there is none. */
	private int endOfFolder(byte[] bytes) {
		for (int end = this.from + this.separator.length; end <= bytes.length; end++) {
			if (Arrays.equals(bytes, end - this.separator.length, end, this.separator, 0, this.separator.length)) {
				return end;
			}
		}
		return 0;
	}

}
