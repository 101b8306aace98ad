package io.kvorum.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;

/** Pages of what a map holds. */
public final class Pages {

	private Pages() {
	}

	/** The first page of a range. */
	public static Page of(NavigableMap<Key, Entry> entries, KeyRange range, Page.Limit limit) {
		Page.Builder page = new Page.Builder(limit);
		for (Map.Entry<Key, Entry> entry : entries.entrySet()) {
			if (range.contains(entry.getKey())) {
				if (page.isFull()) {
					return page.build(false);
				}
				page.add(entry.getKey(), entry.getValue());
			}
		}
		return page.build(true);
	}

	/** The first page of the entries of these keys. */
	public static Page of(NavigableMap<Key, Entry> entries, List<Key> keys, Page.Limit limit) {
		Page.Builder page = new Page.Builder(limit);
		for (Key key : keys) {
			if (page.isFull()) {
				return page.build(false);
			}
			Entry entry = entries.get(key);
			if (entry != null) {
				page.add(key, entry);
			}
		}
		return page.build(true);
	}

	/** The headers of the entries of a page. */
	public static List<EntryHeader> headers(Page page) {
		List<EntryHeader> headers = new ArrayList<>();
		for (Page.Cursor cursor = page.cursor(); cursor.advance();) {
			Entry entry = cursor.entry();
			headers.add(new EntryHeader(Key.of(cursor.keyBytes()), entry.version(), entry.copies(),
					entry instanceof Tombstone));
		}
		return headers;
	}

}
