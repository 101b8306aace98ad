package io.kvorum.app;

import java.util.List;

import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.LayoutDecision;
import io.kvorum.cluster.Topology;
import io.kvorum.layout.LayoutPeers;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KnownLayoutTests {

	private static final Topology ONE = Topology.of(List.of("http://a:1"), 3);

	private final KnownLayout known = new KnownLayout("http://a:1");

	@Test
	void aNodeInNoClusterSaysWhetherItIsEmptyUntilItBelongsToOne() {
		this.known.waits(true, null);
		assertThat(this.known.exchange(LayoutPeers.WAITING)).isEqualTo(LayoutPeers.WAITING);
		this.known.waits(false, null);
		assertThat(this.known.text()).isEqualTo(LayoutPeers.NOT_EMPTY);

		Layout heard = new Layout(3, ONE);
		assertThat(this.known.exchange(heard.toText())).as("it knows one, and is not in it yet")
			.isEqualTo(LayoutPeers.NOT_EMPTY);
		this.known.belongs();
		assertThat(this.known.text()).isEqualTo(heard.toText());
	}

	@Test
	void onlyNewerLayoutsAreLearnt() {
		begin(new Layout(0, ONE));
		this.known.exchange(new Layout(0, Topology.of(List.of("http://b:1"), 3)).toText());
		assertThat(this.known.newest()).as("the layout of another configuration").isEqualTo(new Layout(0, ONE));

		this.known.exchange(new Layout(5, ONE).toText());
		this.known.exchange(new Layout(4, ONE).toText());
		assertThat(this.known.newest()).extracting(Layout::number).isEqualTo(5L);
	}

	private void begin(Layout first) {
		this.known.begins(first);
		this.known.belongs();
	}

	@Test
	void aNodeThatAsksToBeAddedIsRememberedByOthersUntilThatIsTaken() {
		KnownLayout other = new KnownLayout("http://b:1");
		ClusterNode asking = ClusterNode.parse("http://b:1?zone=x&weight=2");
		other.waits(true, asking);
		assertThat(other.text()).isEqualTo("waiting http://b:1?zone=x&weight=2");

		this.known.exchange(other.text());
		this.known.exchange(other.text());
		this.known.exchange("waiting b");
		assertThat(this.known.hasAsking()).isTrue();
		assertThat(this.known.takeAsking()).containsExactly("http://b:1");
		assertThat(this.known.hasAsking()).isFalse();

		other.waits(false, asking);
		assertThat(other.text()).as("its store is not empty").isEqualTo(LayoutPeers.NOT_EMPTY);
	}

	@Test
	void ofManyNodesThatAskSomeAreRemembered() {
		for (int i = 0; i < 100; i++) {
			this.known.exchange("waiting http://n%d:1?weight=1".formatted(i));
		}
		assertThat(this.known.takeAsking()).hasSize(KnownLayout.MAX_ASKING);
	}

	@Test
	void nothingIsCopiedForALayoutWhileThatIsPaused() {
		LayoutDecision moving = new LayoutDecision(5, new Layout(5, ONE));
		LayoutDecision paused = moving.pausing(true);
		this.known.learn(paused);
		assertThat(this.known.pausedBecause(5)).isNotNull();
		assertThat(this.known.pausedBecause(6)).as("the next layout").isNull();
		this.known.learn(moving);
		assertThat(this.known.pausedBecause(5)).as("an answer that comes late").isNotNull();
		this.known.learn(paused.pausing(false));
		assertThat(this.known.pausedBecause(5)).isNull();
	}

	@Test
	void theLayoutOfAnotherClusterIsIgnored() {
		Layout own = new Layout(0, ONE, 11);
		begin(own);
		this.known.exchange(new Layout(7, ONE, 12).toText());
		assertThat(this.known.newest()).isEqualTo(own);
		this.known.exchange(new Layout(3, ONE, own.founding()).toText());
		assertThat(this.known.newest()).extracting(Layout::number).isEqualTo(3L);
	}

	@Test
	void whatTheClusterItselfHasDecidedIsOfIt() {
		begin(new Layout(0, ONE, 11));
		this.known.learn(new LayoutDecision(3, new Layout(3, ONE, 12)));
		this.known.named(new Layout(0, ONE, 11));
		assertThat(this.known.newest()).isEqualTo(new Layout(3, ONE, 12));
		this.known.learn(new LayoutDecision(4, new Layout(4, ONE)));
		assertThat(this.known.newest()).as("decided by a node that did not know the name")
			.isEqualTo(new Layout(4, ONE, 12));
	}

	@Test
	void theNameIsHeardFromNodesOfTheSameTopologyWhileNothingWasDecided() {
		begin(new Layout(0, ONE));
		this.known.exchange(new Layout(0, Topology.of(List.of("http://a:1", "http://b:1"), 3), 12).toText());
		this.known.exchange(new Layout(3, Topology.of(List.of("http://b:1"), 3), 13).toText());
		assertThat(this.known.heardName()).isEqualTo(Layout.UNKNOWN);

		begin(new Layout(0, ONE));
		this.known.exchange(new Layout(0, ONE, 11).toText());
		this.known.exchange(new Layout(0, ONE).toText());
		assertThat(this.known.heardName()).isEqualTo(11);
		assertThat(this.known.newest()).as("only on disk it counts").isEqualTo(new Layout(0, ONE));
		assertThat(this.known.lacksName()).isTrue();
		this.known.named(new Layout(0, ONE, 11));
		assertThat(this.known.lacksName()).isFalse();

		begin(new Layout(0, ONE));
		this.known.learn(new LayoutDecision(3, new Layout(3, ONE)));
		assertThat(this.known.lacksName()).as("something was decided").isFalse();
	}

	@Test
	void aNodeThatMayHaveLostItsDiskBelievesWhatItHearsUntilItKnowsItsCluster() {
		begin(new Layout(0, ONE));
		this.known.exchange(new Layout(4, ONE, 33).toText());
		assertThat(this.known.newest()).extracting(Layout::number).isEqualTo(4L);

		this.known.named(new Layout(0, ONE, 11));
		assertThat(this.known.newest()).as("it is of another cluster").isEqualTo(new Layout(0, ONE, 11));
		this.known.exchange(new Layout(4, ONE, 33).toText());
		assertThat(this.known.newest()).extracting(Layout::number).isEqualTo(0L);
	}

	@Test
	void aLayoutWithoutANameDoesNotTakeTheNameAway() {
		begin(new Layout(5, ONE, 11));
		this.known.exchange(new Layout(6, ONE).toText());
		assertThat(this.known.newest()).hasToString(new Layout(6, ONE, 11).toString());
		this.known.exchange(new Layout(9, ONE, 77).toText());
		assertThat(this.known.newest()).hasToString(new Layout(6, ONE, 11).toString());
	}

	@Test
	void aNodeThatWaitsTakesTheLayoutThatItIsIn() {
		this.known.waits(true, null);
		this.known.exchange(new Layout(9, Topology.of(List.of("http://b:1"), 3), 77).toText());
		assertThat(this.known.newest()).as("it is of another cluster, or not yet in").isNull();
		this.known.exchange(new Layout(3, ONE, 11).toText());
		assertThat(this.known.newest()).hasToString(new Layout(3, ONE, 11).toString());
	}

	@Test
	void whatIsNoLayoutChangesNothing() {
		begin(new Layout(5, ONE));

		for (String text : List.of("", "layout", "layout x", "layout 9", "layout 9\nnode", LayoutPeers.WAITING)) {
			assertThat(this.known.exchange(text)).as(text).isEqualTo(new Layout(5, ONE).toText());
		}
	}

}
