package io.kvorum.range;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.stream.Stream;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Version;
import io.kvorum.operation.RangePiece.Head;
import io.kvorum.storage.Page;
import org.jspecify.annotations.Nullable;

/**
 * Merges the pages that replicas hold of a range: each key once, in order, with its
 * newest entry. It leaves out tombstones and expired entries.
 * <p>
 * It performs no I/O: pages are added as they arrive, and {@link #wanted} says which ones
 * it lacks.
 * <p>
 * A key is merged when every present feed has shown what it holds from that key on. As
 * many feeds as required must be present, so that enough replicas are known for each key.
 * A feed may leave at any key and join again at a later one.
 */
final class RangeMerge {

	/** The pages that a feed keeps: the one that is being merged, and the next. */
	static final int MAX_PAGES = 2;

	private final KeyRange range;

	private final int required;

	/** The number of voters that must show the same entry under a ballot. */
	private final int majority;

	private final Voters voters;

	private final Feed[] feeds;

	/** The feeds that have an item, by its key. */
	private final PriorityQueue<Feed> heads = new PriorityQueue<>((one, other) -> one.head().compareKeys(other.head()));

	/** The feeds with the key that is being merged; empty in between. */
	private final List<Feed> same = new ArrayList<>();

	/** The number of feeds that take part. */
	private int present;

	/**
	 * The number of feeds that take part and must show more before the merge can go on.
	 */
	private int starved;

	/** The number of keys that have been merged. */
	private long progress;

	/** The last key that was merged; null before the first. */
	private byte @Nullable [] merged;

	/** The key that was merged before {@link #merged}. */
	private byte @Nullable [] mergedBefore;

	/**
	 * Creates the merge of a range.
	 * @param required how many of the feeds must take part
	 * @param majority how many voters must show the same entry under a ballot. One that
	 * fewer show may be of a write that does not happen; it is {@link Unsettled}
	 */
	RangeMerge(KeyRange range, int feeds, int required, int majority, Voters voters) {
		this.voters = voters;
		this.range = range;
		this.required = required;
		this.majority = majority;
		this.feeds = new Feed[feeds];
		for (int i = 0; i < feeds; i++) {
			this.feeds[i] = new Feed(i);
		}
		this.present = feeds;
		this.starved = feeds;
	}

	/** Whether enough feeds take part. */
	boolean hasEnoughFeeds() {
		return this.present >= this.required;
	}

	boolean isPresent(int feed) {
		return this.feeds[feed].present;
	}

	/** Whether the merge cannot go on before this feed shows more. */
	boolean isStarved(int feed) {
		return this.feeds[feed].isStarved();
	}

	/** Whether all entries have been merged. */
	boolean isAtEnd() {
		return hasEnoughFeeds() && this.starved == 0 && this.heads.isEmpty();
	}

	/** The number of keys that have been merged: the position of the merge. */
	long progress() {
		return this.progress;
	}

	/**
	 * The part of the range that a feed should show next. It is null if the feed has
	 * shown all, or enough for now. If the feed does not take part, it is the whole rest.
	 */
	@Nullable KeyRange wanted(int feed) {
		Feed it = this.feeds[feed];
		if (!it.present) {
			return rest();
		}
		return (it.pages.size() < MAX_PAGES) ? it.behind : null;
	}

	private KeyRange rest() {
		return (this.merged != null) ? this.range.after(this.merged) : this.range;
	}

	/** Adds a page of what was wanted from a feed that takes part. */
	void add(int feed, Page page) {
		this.feeds[feed].add(page);
	}

	/** Removes a feed from the merge, with what it has shown. */
	void leave(int feed) {
		if (this.feeds[feed].present) {
			this.feeds[feed].leave();
		}
	}

	/** Adds a feed that has left, from the next key on; the merge waits for it. */
	void join(int feed) {
		Feed it = this.feeds[feed];
		if (!it.present) {
			it.present = true;
			this.present++;
			it.beginAt(rest());
		}
	}

	/**
	 * Goes back to before the last merged key; not twice in a row. All feeds that take
	 * part must show again what they hold from there on. Pages asked for earlier must not
	 * be added.
	 */
	void rewind() {
		this.merged = this.mergedBefore;
		this.progress--;
		this.heads.clear();
		this.starved = 0;
		for (Feed feed : this.feeds) {
			if (feed.present) {
				feed.beginAt(rest());
			}
		}
	}

	/**
	 * Returns the next entry that is visible or unsettled; null at the end, if a feed
	 * must show more first, or if too few take part.
	 * @param now the instant at which entries are visible, in milliseconds since 1970
	 */
	@Nullable Merged next(long now) {
		while (hasEnoughFeeds() && this.starved == 0) {
			Feed first = this.heads.poll();
			if (first == null) {
				return null;
			}
			Feed newest = gather(first);
			Key key = Key.of(first.head().keyBytes());
			Merged merged = toMerged(key, newest.head(), now);
			this.mergedBefore = this.merged;
			this.merged = key.bytes();
			this.progress++;
			this.same.forEach(Feed::advance);
			this.same.clear();
			if (merged != null) {
				return merged;
			}
		}
		return null;
	}

	/** Gathers the feeds with the same key and returns the one with the newest entry. */
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

	/** Returns null for an entry that is not visible. */
	private @Nullable Merged toMerged(Key key, Page.Cursor newest, long now) {
		if (newest.hasLineage()
				&& holdersOf(newest).filter(feed -> this.voters.has(key, feed.index)).count() < this.majority) {
			return isGoneEverywhere(key, now) ? null : new Unsettled(key);
		}
		if (!newest.isVisibleAt(now)) {
			return null;
		}
		if (newest.isHead()) {
			return new Bare(Head.of(key, (Live) newest.entry(), newest.lengthBehindHead()));
		}
		if (!newest.isLarge()) {
			return new Whole(key, (Live) newest.entry());
		}
		int holder = holdersOf(newest).mapToInt(feed -> feed.index).min().orElseThrow();
		return new Large(key, newest.version(), newest.expiresAtMillis(), holder);
	}

	/**
	 * Whether there is no value, whatever becomes of the newest entry: no replica has
	 * one, and none is missing that could.
	 */
	private boolean isGoneEverywhere(Key key, long now) {
		return this.same.stream().noneMatch(feed -> feed.head().isVisibleAt(now))
				&& Stream.of(this.feeds).allMatch(feed -> feed.present || !this.voters.has(key, feed.index));
	}

	private Stream<Feed> holdersOf(Page.Cursor newest) {
		return this.same.stream().filter(feed -> feed.head().compareVersions(newest) == 0);
	}

	/**
	 * The feeds that count for a ballot of a key: those of its replicas. Other nodes may
	 * hold it too, from when it had more replicas or other ones.
	 */
	@FunctionalInterface
	interface Voters {

		boolean has(Key key, int feed);

	}

	/** An entry of the range. */
	sealed interface Merged {

		Key key();

	}

	/** An entry whose value was in a page. */
	record Whole(Key key, Live live) implements Merged {
	}

	/** An entry whose value is not wanted. */
	record Bare(Head head) implements Merged {

		@Override
		public Key key() {
			return this.head.key();
		}

	}

	/**
	 * An entry whose value has to be read by itself.
	 *
	 * @param holder the first feed that holds it
	 */
	record Large(Key key, Version version, long expiresAtMillis, int holder) implements Merged {
	}

	/** A key whose newest entry may be of a write that does not happen. */
	record Unsettled(Key key) implements Merged {
	}

	/** The pages of one replica. */
	private final class Feed {

		private final int index;

		private final Queue<Page> pages = new ArrayDeque<>(MAX_PAGES);

		private Page.@Nullable Cursor cursor;

		/** The part of the range behind its pages; null if there is none. */
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
			this.pages.add(page);
			this.behind = page.isLast() ? null : page.behind(RangeMerge.this.range);
			if (this.cursor == null) {
				RangeMerge.this.starved--;
				advance();
			}
		}

		boolean isStarved() {
			return this.present && this.cursor == null && this.behind != null;
		}

		/** Goes to the next item. */
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
			else if (isStarved()) {
				RangeMerge.this.starved--;
			}
			this.pages.clear();
			this.cursor = null;
			this.present = false;
			RangeMerge.this.present--;
		}

		/** Forgets its pages and begins again at a range. */
		void beginAt(KeyRange from) {
			this.pages.clear();
			this.cursor = null;
			this.behind = from;
			RangeMerge.this.starved++;
		}

	}

}
