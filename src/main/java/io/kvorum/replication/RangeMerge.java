package io.kvorum.replication;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;

/**
 * Merges what replicas hold of a range: each key once, in order, with the newest of its
 * entries; what is deleted or has expired is left out. It decides and waits for nothing:
 * pages are put in as they come, and it says which ones it lacks.
 * <p>
 * A key is told when every feed that takes part has shown what it holds from that key on.
 * A feed may leave at any key, and join again at a later one: for each key the feeds that
 * took part are known, and it is for the caller to see to it that they are enough.
 */
final class RangeMerge {

	/** Pages that a feed keeps: the one that is being merged, and the next. */
	static final int MAX_PAGES = 2;

	private final KeyRange range;

	private final Feed[] feeds;

	/** The feeds that have an item, by its key. */
	private final PriorityQueue<Feed> heads = new PriorityQueue<>((one, other) -> one.head().compareKeys(other.head()));

	/** The feeds with the key that is being merged; empty in between. */
	private final List<Feed> same = new ArrayList<>();

	/** How many feeds take part. */
	private int present;

	/** How many of these have to show more before the merge goes on. */
	private int starved;

	/** Of the last key that was merged; null before the first. */
	private byte @Nullable [] merged;

	RangeMerge(KeyRange range, int feeds) {
		this.range = range;
		this.feeds = new Feed[feeds];
		for (int i = 0; i < feeds; i++) {
			this.feeds[i] = new Feed(i);
		}
		this.present = feeds;
		this.starved = feeds;
	}

	/** How many feeds take part. */
	int present() {
		return this.present;
	}

	boolean isPresent(int feed) {
		return this.feeds[feed].present;
	}

	/** Whether all that there is has been told. */
	boolean isAtEnd() {
		return this.starved == 0 && this.heads.isEmpty();
	}

	/**
	 * What a feed should show next: null where it has shown all, or enough for now. For
	 * one that has left, that is from where on it can join again.
	 */
	@Nullable KeyRange wanted(int feed) {
		Feed it = this.feeds[feed];
		if (!it.present) {
			return rest();
		}
		return (it.pages.size() < MAX_PAGES) ? it.behind : null;
	}

	/** What is still to be merged. */
	private KeyRange rest() {
		return (this.merged != null) ? this.range.after(this.merged) : this.range;
	}

	/** Takes in what a feed has shown of what was wanted of it. */
	void add(int feed, Page page) {
		Feed it = this.feeds[feed];
		if (it.present) {
			it.add(page);
		}
		else {
			it.join(page);
		}
	}

	/** A feed shows no more. */
	void leave(int feed) {
		Feed it = this.feeds[feed];
		if (it.present) {
			it.leave();
		}
	}

	/**
	 * The next entry that a reader at this instant gets, in milliseconds since 1970; null
	 * where a feed has to show more first, and at the end.
	 */
	@Nullable Merged next(long now) {
		while (this.starved == 0) {
			Feed first = this.heads.poll();
			if (first == null) {
				return null;
			}
			Feed newest = gather(first);
			Key key = Key.of(first.head().keyBytes());
			Merged merged = newest.head().isVisibleAt(now) ? told(key, newest.head()) : null;
			this.merged = key.bytes();
			this.same.forEach(Feed::advance);
			this.same.clear();
			if (merged != null) {
				return merged;
			}
		}
		return null;
	}

	/** Gathers the feeds with the same key and gives the one with the newest entry. */
	private Feed gather(Feed first) {
		this.same.add(first);
		Feed newest = first;
		for (Feed other = this.heads.peek(); other != null
				&& other.head().compareKeys(first.head()) == 0; other = this.heads.peek()) {
			this.heads.remove();
			this.same.add(other);
			if (other.head().compareVersions(newest.head()) > 0) {
				newest = other;
			}
		}
		return newest;
	}

	private Merged told(Key key, Page.Cursor newest) {
		if (!newest.isLarge()) {
			return new Whole(key, (Live) newest.entry(key));
		}
		List<Integer> holders = this.same.stream()
			.filter(feed -> feed.head().compareVersions(newest) == 0)
			.map(feed -> feed.index)
			.toList();
		return new Large(key, newest.version(), newest.entryLength(), holders);
	}

	/** An entry of the range. */
	sealed interface Merged {

		Key key();

	}

	/** One that was in the pages. */
	record Whole(Key key, Live live) implements Merged {
	}

	/**
	 * One that has to be read by itself.
	 *
	 * @param length of the entry, in bytes
	 * @param holders the feeds that hold it
	 */
	record Large(Key key, Version version, int length, List<Integer> holders) implements Merged {
	}

	/** What one replica shows. */
	private final class Feed {

		private final int index;

		private final Queue<Page> pages = new ArrayDeque<>(MAX_PAGES);

		private Page.@Nullable Cursor cursor;

		/** What comes behind its pages; null where nothing does. */
		private @Nullable KeyRange behind;

		private boolean present = true;

		Feed(int index) {
			this.index = index;
			this.behind = RangeMerge.this.range;
		}

		Page.Cursor head() {
			if (this.cursor == null) {
				throw new IllegalStateException("a feed that shows nothing is being merged");
			}
			return this.cursor;
		}

		void add(Page page) {
			take(page);
			if (this.cursor == null) {
				RangeMerge.this.starved--;
				advance();
			}
		}

		private void take(Page page) {
			this.pages.add(page);
			this.behind = page.isLast() ? null : page.behind(RangeMerge.this.range);
		}

		/** Goes to its next item. */
		void advance() {
			while (!this.pages.isEmpty()) {
				if (this.cursor == null) {
					this.cursor = this.pages.element().cursor();
				}
				if (this.cursor.advance()) {
					RangeMerge.this.heads.add(this);
					return;
				}
				this.pages.remove();
				this.cursor = null;
			}
			if (this.behind != null) {
				RangeMerge.this.starved++;
			}
		}

		void leave() {
			if (this.cursor != null) {
				RangeMerge.this.heads.remove(this);
			}
			else if (this.behind != null) {
				RangeMerge.this.starved--;
			}
			this.pages.clear();
			this.cursor = null;
			this.present = false;
			RangeMerge.this.present--;
		}

		/**
		 * Takes part again, if the page goes beyond what has been merged since it was
		 * asked for; else it has to be asked again.
		 */
		void join(Page page) {
			byte[] merged = RangeMerge.this.merged;
			Page.Cursor first = page.cursor();
			boolean isBeyond = first.advance();
			while (isBeyond && merged != null && first.compareKeyTo(merged) <= 0) {
				isBeyond = first.advance();
			}
			if (!isBeyond && !page.isLast()) {
				return;
			}
			this.present = true;
			RangeMerge.this.present++;
			take(page);
			if (isBeyond) {
				this.cursor = first;
				RangeMerge.this.heads.add(this);
			}
			else {
				this.pages.clear();
			}
		}

	}

}
