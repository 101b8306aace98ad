package io.kvorum.range;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;

/**
 * What {@link RangeMerge} does, in few words: it knows all that each feed holds, and up
 * to where it has shown it, and looks at every key anew each time.
 */
final class DumbMerge {

	private final KeyRange range;

	private final List<NavigableMap<Key, Entry>> held;

	private final int required;

	private final boolean[] present;

	/** The last key that a feed has shown; null where it has shown none. */
	private final @Nullable Key[] shown;

	private final boolean[] hasShownAll;

	/** The last key that was merged. */
	private @Nullable Key merged;

	/** The one before it. */
	private @Nullable Key mergedBefore;

	DumbMerge(KeyRange range, List<NavigableMap<Key, Entry>> held, int required) {
		this.range = range;
		this.required = required;
		this.held = held;
		this.present = new boolean[held.size()];
		this.shown = new Key[held.size()];
		this.hasShownAll = new boolean[held.size()];
		Arrays.fill(this.present, true);
	}

	boolean hasEnoughFeeds() {
		return present().size() >= this.required;
	}

	boolean isPresent(int feed) {
		return this.present[feed];
	}

	List<Integer> present() {
		return IntStream.range(0, this.present.length).filter(feed -> this.present[feed]).boxed().toList();
	}

	boolean hasShownAll(int feed) {
		return this.hasShownAll[feed];
	}

	void leave(int feed) {
		this.present[feed] = false;
	}

	void join(int feed) {
		if (!this.present[feed]) {
			this.present[feed] = true;
			forget(feed);
		}
	}

	private void forget(int feed) {
		this.shown[feed] = null;
		this.hasShownAll[feed] = false;
	}

	void rewind() {
		this.merged = this.mergedBefore;
		present().forEach(this::forget);
	}

	void add(int feed, Page page) {
		Key last = lastOf(page);
		this.shown[feed] = (last != null) ? last : this.shown[feed];
		this.hasShownAll[feed] = page.isLast();
	}

	private static @Nullable Key lastOf(Page page) {
		Key last = null;
		for (Page.Cursor cursor = page.cursor(); cursor.advance();) {
			last = Key.of(cursor.keyBytes());
		}
		return last;
	}

	/** The next key with a visible entry that can be told by now. */
	Map.@Nullable Entry<Key, Entry> next(long now) {
		NavigableMap<Key, List<Entry>> all = new TreeMap<>();
		for (int feed : present()) {
			this.held.get(feed).forEach((key, entry) -> all.computeIfAbsent(key, _ -> new ArrayList<>()).add(entry));
		}
		for (Map.Entry<Key, List<Entry>> each : all.entrySet()) {
			Key key = each.getKey();
			if (!this.range.contains(key) || (this.merged != null && key.compareTo(this.merged) <= 0)) {
				continue;
			}
			if (!hasEnoughFeeds() || !present().stream().allMatch(feed -> hasShown(feed, key))) {
				return null;
			}
			this.mergedBefore = this.merged;
			this.merged = key;
			Entry newest = each.getValue().getFirst();
			for (Entry entry : each.getValue()) {
				newest = entry.version().isNewerThan(newest.version()) ? entry : newest;
			}
			if (newest.isVisibleAt(now)) {
				return Map.entry(key, newest);
			}
		}
		return null;
	}

	private boolean hasShown(int feed, Key key) {
		Key last = this.shown[feed];
		return this.hasShownAll[feed] || (last != null && key.compareTo(last) <= 0);
	}

	/** The feeds that take part and hold this entry. */
	List<Integer> holders(Key key, Entry entry) {
		return present().stream().filter(feed -> entry.equals(this.held.get(feed).get(key))).toList();
	}

	/** Whether nothing is left that somebody could tell. */
	boolean isAtEnd() {
		if (!hasEnoughFeeds()) {
			return false;
		}
		for (int feed : present()) {
			if (!this.hasShownAll[feed]) {
				return false;
			}
			for (Key key : this.held.get(feed).keySet()) {
				if (this.range.contains(key) && (this.merged == null || key.compareTo(this.merged) > 0)) {
					return false;
				}
			}
		}
		return true;
	}

}
