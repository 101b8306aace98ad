package io.kvorum.operation;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * The newest version of a key, and its value if it has one.
 *
 * @param version of its entry, or of the delete that has removed that
 * @param live the value; null if the key was deleted, or its value has expired
 */
public record Newest(Version version, @Nullable Live live) {

	/** A value that has not expired. */
	public static Newest of(Live live) {
		return new Newest(live.version(), live);
	}

}
