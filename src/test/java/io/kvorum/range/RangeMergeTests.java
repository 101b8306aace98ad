package io.kvorum.range;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.kv.Lineage;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.range.RangeMerge.Bare;
import io.kvorum.range.RangeMerge.Large;
import io.kvorum.range.RangeMerge.Merged;
import io.kvorum.range.RangeMerge.Unsettled;
import io.kvorum.range.RangeMerge.Whole;
import io.kvorum.storage.Page;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Pages;
import io.kvorum.testing.SeededTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Feeds that show what they hold piece by piece, leave and join again. */
class RangeMergeTests {

	private static final int MAJORITY = 2;

	private static final long NOW = 1_000;

	private static final int WALKS = 2_000;

	private static final Page.Limit ONE = Page.Limit.of(1, 1);

	private static final Page.Limit ALL = Page.Limit.of(Page.Limit.MAX_BYTES, 1_000);

	private static final Version OLD = new Version(10, 1);

	private static final Version NEW = new Version(10, 2);

	private final List<NavigableMap<Key, Entry>> held = new ArrayList<>();

	private RangeMerge merge(int feeds) {
		return merge(feeds, 1);
	}

	private RangeMerge merge(int feeds, int required) {
		for (int i = 0; i < feeds; i++) {
			this.held.add(new TreeMap<>());
		}
		return new RangeMerge(KeyRange.all(), feeds, required, MAJORITY, (_, _) -> true);
	}

	private void hold(int feed, String key, Entry entry) {
		this.held.get(feed).put(Generator.key(key), entry);
	}

	private static KeyRange wanted(RangeMerge merge, int feed) {
		KeyRange wanted = merge.wanted(feed);
		if (wanted == null) {
			throw new AssertionError("nothing is wanted of feed " + feed);
		}
		return wanted;
	}

	/** It shows the next page. */
	private void show(RangeMerge merge, int feed, Page.Limit limit) {
		merge.add(feed, Pages.of(this.held.get(feed), wanted(merge, feed), limit));
	}

	private static Merged next(RangeMerge merge) {
		Merged next = merge.next(NOW);
		if (next == null) {
			throw new AssertionError("there is no next one");
		}
		return next;
	}

	private static List<String> told(RangeMerge merge) {
		List<String> told = new ArrayList<>();
		for (Merged next = merge.next(NOW); next != null; next = merge.next(NOW)) {
			told.add(text(next));
		}
		return told;
	}

	private static String text(Merged merged) {
		String key = new String(merged.key().bytes(), StandardCharsets.UTF_8);
		return switch (merged) {
			case Bare bare -> key + " of " + bare.head().valueBytes() + " bytes";
			case Whole whole -> key + "=" + new String(whole.live().value().toBytes(), StandardCharsets.UTF_8);
			case Large large -> key + " of " + large.holder();
			case Unsettled _ -> key + " unsettled";
		};
	}

	@Test
	void eachKeyIsToldOnceWithItsNewestEntryWhoeverHoldsIt() {
		RangeMerge merge = merge(3);
		hold(0, "a", Generator.live(OLD, "old"));
		hold(1, "a", Generator.live(NEW, "new"));
		hold(2, "a", Generator.live(NEW, "new"));
		hold(1, "b", Generator.live(OLD, "only here"));
		hold(2, "c", Generator.live(OLD, "old"));
		hold(0, "c", Generator.live(NEW, "new"));
		for (int feed = 0; feed < 3; feed++) {
			show(merge, feed, ALL);
		}

		assertThat(told(merge)).containsExactly("a=new", "b=only here", "c=new");
		assertThat(merge.isAtEnd()).isTrue();
	}

	@Test
	void aTombstoneAndWhatHasExpiredHideWhatIsOlder() {
		RangeMerge merge = merge(2);
		hold(0, "a", Generator.live(OLD, "deleted"));
		hold(1, "a", new Tombstone(NEW, 1));
		hold(0, "b", Generator.live(OLD, "hidden"));
		hold(1, "b", Generator.live(NEW, "expired", NOW));
		hold(0, "c", Generator.live(OLD, "hidden"));
		hold(1, "c", Generator.live(NEW, "expires later", NOW + 1));
		hold(0, "d", new Tombstone(OLD, 1));
		hold(1, "d", Generator.live(NEW, "again"));
		show(merge, 0, ALL);
		show(merge, 1, ALL);

		assertThat(told(merge)).containsExactly("c=expires later", "d=again");
	}

	@Test
	void noKeyIsToldBeforeEveryFeedHasShownWhatItHoldsThere() {
		RangeMerge merge = merge(2);
		hold(0, "a", Generator.live(OLD, "old"));
		hold(0, "b", Generator.live(OLD, "b"));
		hold(1, "a", Generator.live(NEW, "new"));
		hold(1, "c", Generator.live(NEW, "c"));
		show(merge, 0, ALL);
		assertThat(told(merge)).isEmpty();
		assertThat(merge.isAtEnd()).isFalse();

		show(merge, 1, ONE);
		assertThat(told(merge)).as("the second may hold b too").containsExactly("a=new");
		show(merge, 1, ONE);
		assertThat(told(merge)).containsExactly("b=b", "c=c");
	}

	@Test
	void aFeedIsAskedForTwoPagesAndForMoreWhenOneOfThemIsMerged() {
		RangeMerge merge = merge(1);
		for (String key : List.of("a", "b", "c", "d")) {
			hold(0, key, Generator.live(OLD, key));
		}
		show(merge, 0, ONE);
		show(merge, 0, ONE);
		assertThat(merge.wanted(0)).isNull();
		assertThat(merge.next(NOW)).isNotNull();

		assertThat(wanted(merge, 0).contains(Generator.key("c"))).isTrue();
		assertThat(wanted(merge, 0).contains(Generator.key("b"))).isFalse();
	}

	/** Whether the delete happens or not, there is no value. */
	@Test
	void whatIsGoneOnAllReplicasIsPassedOverAndElseIsUnsettled() {
		Entry deleted = new Tombstone(OLD, 3).under(NEW, Lineage.of(NEW, true, null));
		Entry expired = new Live(OLD, 3, NOW - 1, "x/y", Value.of(new byte[0])).under(NEW, Lineage.of(NEW, true, null));
		RangeMerge all = merge(3);
		hold(0, "a", deleted);
		hold(0, "b", expired);
		hold(0, "c", deleted);
		hold(1, "c", Generator.live(OLD, "c"));
		for (int feed = 0; feed < 3; feed++) {
			show(all, feed, ALL);
		}
		assertThat(told(all)).as("the value of c may be back").containsExactly("c unsettled");

		RangeMerge two = new RangeMerge(KeyRange.all(), 3, 1, MAJORITY, (_, _) -> true);
		two.leave(2);
		show(two, 0, ALL);
		show(two, 1, ALL);
		assertThat(told(two)).as("the third may have a value")
			.containsExactly("a unsettled", "b unsettled", "c unsettled");

		RangeMerge others = new RangeMerge(KeyRange.all(), 3, 1, MAJORITY, (_, feed) -> feed != 2);
		others.leave(2);
		show(others, 0, ALL);
		show(others, 1, ALL);
		assertThat(told(others)).as("the third is none of its replicas").containsExactly("c unsettled");
	}

	@Test
	void whereNobodyHoldsAnythingAllIsToldAtOnce() {
		RangeMerge merge = merge(3);
		for (int feed = 0; feed < 3; feed++) {
			assertThat(merge.isAtEnd()).isFalse();
			show(merge, feed, ALL);
			assertThat(merge.wanted(feed)).isNull();
		}

		assertThat(merge.next(NOW)).isNull();
		assertThat(merge.isAtEnd()).isTrue();
	}

	@Test
	void withoutAFeedThatLeavesTheOthersGoOnAndWhatItHadShownIsForgotten() {
		RangeMerge merge = merge(2);
		hold(0, "a", Generator.live(OLD, "a"));
		hold(1, "a", Generator.live(NEW, "of who left"));
		hold(1, "b", Generator.live(NEW, "of who left"));
		show(merge, 0, ALL);
		show(merge, 1, ALL);
		merge.leave(1);
		merge.leave(1);

		assertThat(merge.isPresent(1)).isFalse();
		assertThat(told(merge)).containsExactly("a=a");
		assertThat(merge.isAtEnd()).isTrue();
	}

	@Test
	void aFeedThatLeavesWhileItHasToShowMoreHoldsUpNobody() {
		RangeMerge merge = merge(2);
		hold(0, "a", Generator.live(OLD, "a"));
		show(merge, 0, ALL);
		assertThat(told(merge)).isEmpty();
		merge.leave(1);

		assertThat(told(merge)).containsExactly("a=a");
	}

	@Test
	void whoJoinsAgainIsWaitedForAndTakesPartFromTheNextKeyOn() {
		RangeMerge merge = merge(2);
		for (String key : List.of("a", "b", "c", "d")) {
			hold(0, key, Generator.live(OLD, "first"));
			hold(1, key, Generator.live(NEW, "second"));
		}
		show(merge, 0, ALL);
		merge.leave(1);
		assertThat(text(next(merge))).isEqualTo("a=first");
		assertThat(text(next(merge))).isEqualTo("b=first");
		merge.join(1);
		merge.join(1);
		assertThat(merge.isPresent(1)).isTrue();
		assertThat(told(merge)).isEmpty();
		assertThat(merge.isAtEnd()).isFalse();

		show(merge, 1, ONE);
		assertThat(told(merge)).containsExactly("c=second");
		show(merge, 1, ALL);
		assertThat(told(merge)).containsExactly("d=second");
		assertThat(merge.isAtEnd()).isTrue();
	}

	@Test
	void nothingIsToldAndNothingEndsWhileFewerTakePartThanMust() {
		RangeMerge merge = merge(2, 2);
		hold(0, "a", Generator.live(OLD, "a"));
		show(merge, 0, ALL);
		merge.leave(1);
		assertThat(merge.hasEnoughFeeds()).isFalse();
		assertThat(told(merge)).isEmpty();
		assertThat(merge.isAtEnd()).isFalse();

		merge.join(1);
		show(merge, 1, ALL);
		assertThat(told(merge)).containsExactly("a=a");
		assertThat(merge.isAtEnd()).isTrue();
	}

	@Test
	void fromBeforeTheLastKeyEverybodyShowsAgainWhatHeHolds() {
		RangeMerge merge = merge(2);
		for (String key : List.of("a", "b", "c")) {
			hold(0, key, Generator.live(OLD, "first"));
			hold(1, key, Generator.live(NEW, "second"));
		}
		show(merge, 0, ALL);
		show(merge, 1, ALL);
		assertThat(text(next(merge))).isEqualTo("a=second");
		assertThat(text(next(merge))).isEqualTo("b=second");
		merge.rewind();
		assertThat(merge.progress()).isEqualTo(1);
		merge.leave(1);
		assertThat(told(merge)).isEmpty();

		show(merge, 0, ALL);
		assertThat(told(merge)).containsExactly("b=first", "c=first");
		assertThat(merge.isAtEnd()).isTrue();
	}

	@Test
	void aLargeEntryIsNamedWithTheFirstOfThoseWhoHoldItsNewestVersion() {
		RangeMerge merge = merge(4);
		Live large = new Live(NEW, 3, 5_000, "x/y", Value.of(new byte[20_000]));
		hold(1, "a", large);
		hold(0, "a", Generator.live(OLD, "old"));
		hold(3, "a", large);
		for (int feed = 0; feed < 4; feed++) {
			show(merge, feed, ALL);
		}

		assertThat(merge.next(NOW)).isEqualTo(new Large(Generator.key("a"), NEW, 5_000, 1));
	}

	@SeededTest
	void whatIsToldAndWhenIsWhatADumbMergeTells(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < WALKS; i++) {
			new Walk(random, "seed %d, walk %d".formatted(seed, i)).run();
		}
	}

	/** Steps of chance, after each of which both merges have to be in the same state. */
	private static final class Walk {

		private static final int STEPS = 60;

		private final Generator random;

		private final String name;

		private final List<NavigableMap<Key, Entry>> held = new ArrayList<>();

		private final RangeMerge merge;

		private final DumbMerge dumb;

		/** What was asked of each feed, if anything. */
		private final @Nullable KeyRange[] asked;

		private @Nullable Key last;

		Walk(Generator random, String name) {
			this.random = random;
			this.name = name;
			int feeds = 1 + random.below(5);
			fill(feeds);
			KeyRange range = random.chance(80) ? KeyRange.all()
					: KeyRange.of(new byte[] { 1 }, new byte[] { (byte) (2 + random.below(12)) });
			int required = 1 + random.below(feeds);
			this.merge = new RangeMerge(range, feeds, required, MAJORITY, (_, _) -> true);
			this.dumb = new DumbMerge(range, this.held, required);
			this.asked = new KeyRange[feeds];
		}

		/** Of few keys and versions, so that they meet; same version, same entry. */
		private void fill(int feeds) {
			Map<String, Entry> entries = new HashMap<>();
			int keys = 1 + this.random.below(14);
			for (int feed = 0; feed < feeds; feed++) {
				NavigableMap<Key, Entry> mine = new TreeMap<>();
				for (int key = 0; key < keys; key++) {
					if (this.random.chance(60)) {
						Version version = new Version(1 + this.random.below(2), 1 + this.random.below(3));
						byte[] bytes = this.random.chance(70) ? new byte[] { (byte) key }
								: new byte[] { (byte) key, (byte) this.random.below(2) };
						mine.put(Key.of(bytes),
								entries.computeIfAbsent(Arrays.toString(bytes) + version, _ -> entry(version)));
					}
				}
				this.held.add(mine);
			}
		}

		private Entry entry(Version version) {
			return switch (this.random.below(20)) {
				case 0, 1, 2, 3 -> new Tombstone(version, 3);
				case 4, 5 -> Generator.live(version, "expired", NOW - this.random.below(2));
				case 6, 7 -> Generator.live(version, "expires", NOW + 1);
				case 8 -> new Live(version, 3, Live.NEVER, "x/y", Value.of(new byte[17_000]));
				default -> Generator.live(version, "value of " + version);
			};
		}

		void run() {
			for (int step = 0; step < STEPS; step++) {
				int feed = this.random.below(this.held.size());
				if (this.random.chance(8)) {
					leave(feed);
				}
				else if (this.random.chance(10)) {
					join(feed);
				}
				else if (this.last != null && this.random.chance(5)) {
					rewind();
				}
				else if (this.random.chance(60)) {
					askOrShow(feed);
				}
				else {
					next();
				}
				compare();
			}
			finish();
		}

		private void leave(int feed) {
			this.merge.leave(feed);
			this.dumb.leave(feed);
			// What was asked for before is for what came behind that.
			this.asked[feed] = null;
		}

		private void join(int feed) {
			this.merge.join(feed);
			this.dumb.join(feed);
		}

		private void rewind() {
			this.merge.rewind();
			this.dumb.rewind();
			Arrays.fill(this.asked, null);
			this.last = null;
		}

		private void askOrShow(int feed) {
			KeyRange wanted = this.asked[feed];
			if (wanted == null) {
				this.asked[feed] = this.merge.isPresent(feed) ? this.merge.wanted(feed) : null;
				return;
			}
			Page page = Pages.of(this.held.get(feed), wanted,
					Page.Limit.of(1 + this.random.below(200), 1 + this.random.below(4)));
			this.asked[feed] = null;
			this.merge.add(feed, page);
			this.dumb.add(feed, page);
		}

		private boolean next() {
			Merged merged = this.merge.next(NOW);
			Map.Entry<Key, Entry> expected = this.dumb.next(NOW);
			if (merged == null || expected == null) {
				this.last = null;
				assertThat(merged).as(this.name).isNull();
				assertThat(expected).as(this.name).isNull();
				return false;
			}
			assertThat(merged.key()).as(this.name).isEqualTo(expected.getKey());
			assertThat(this.last == null || this.last.compareTo(merged.key()) < 0).as(this.name).isTrue();
			this.last = merged.key();
			switch (merged) {
				case Whole whole -> assertThat(whole.live()).as(this.name).isEqualTo(expected.getValue());
				case Large large -> {
					assertThat(large.version()).as(this.name).isEqualTo(expected.getValue().version());
					assertThat(large.holder()).as(this.name)
						.isEqualTo(this.dumb.holders(expected.getKey(), expected.getValue()).getFirst());
				}
				case Bare _ -> throw new AssertionError("a value is wanted");
				case Unsettled _ -> throw new AssertionError("an entry without a lineage is settled");
			}
			return true;
		}

		private void compare() {
			assertThat(this.merge.hasEnoughFeeds()).as(this.name).isEqualTo(this.dumb.hasEnoughFeeds());
			for (int feed = 0; feed < this.asked.length; feed++) {
				assertThat(this.merge.isPresent(feed)).as(this.name).isEqualTo(this.dumb.isPresent(feed));
				if (this.dumb.isPresent(feed) && this.dumb.hasShownAll(feed)) {
					assertThat(this.merge.wanted(feed)).as(this.name).isNull();
				}
			}
			if (this.merge.isAtEnd()) {
				assertThat(this.dumb.isAtEnd()).as(this.name).isTrue();
			}
		}

		/** All who take part show the rest: then all is told. */
		private void finish() {
			for (int feed = 0; !this.dumb.hasEnoughFeeds(); feed++) {
				join(feed);
			}
			while (next() || IntStream.range(0, this.asked.length).filter(this::showsMore).count() > 0) {
				compare();
			}
			assertThat(this.merge.isAtEnd()).as(this.name).isTrue();
			assertThat(this.dumb.isAtEnd()).as(this.name).isTrue();
		}

		private boolean showsMore(int feed) {
			if (!this.dumb.isPresent(feed)) {
				return false;
			}
			KeyRange before = this.asked[feed];
			askOrShow(feed);
			return before != null || this.asked[feed] != null;
		}

	}

}
