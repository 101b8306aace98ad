package io.kvorum.storage;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;

/**
 * What is known of a stored entry without reading it.
 *
 * @param copies how many replicas are to hold it
 * @param tombstone whether it is one
 */
public record Stub(Key key, Version version, Copies copies, boolean tombstone) {

	/** The stub of an entry that has so many copies, whatever the layout is. */
	public Stub(Key key, Version version, int copies, boolean tombstone) {
		this(key, version, Copies.of(copies), tombstone);
	}

}
