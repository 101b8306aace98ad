package io.kvorum.storage;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;

/**
 * The part of a stored entry that is known without reading it.
 *
 * @param copies the number of replicas that hold it
 * @param tombstone whether it is a tombstone
 */
public record EntryHeader(Key key, Version version, Copies copies, boolean tombstone) {

	/** The header of an entry that has so many copies, whatever the layout is. */
	public EntryHeader(Key key, Version version, int copies, boolean tombstone) {
		this(key, version, Copies.of(copies), tombstone);
	}

}
