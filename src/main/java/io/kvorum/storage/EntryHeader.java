package io.kvorum.storage;

import io.kvorum.kv.Copies;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;

/**
 * The header of a stored entry, known without reading the entry.
 *
 * @param copies its number of replicas
 * @param tombstone whether the entry is one
 */
public record EntryHeader(Key key, Version version, Copies copies, boolean tombstone) {

	/**
	 * Creates the header of an entry with a fixed number of copies, whatever the default
	 * is.
	 */
	public EntryHeader(Key key, Version version, int copies, boolean tombstone) {
		this(key, version, Copies.of(copies), tombstone);
	}

}
