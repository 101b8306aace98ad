package io.kvorum.app;

import java.util.List;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.layout.LayoutNode;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KnownLayoutTests {

	private static final Topology ONE = Topology.of(List.of("http://a:1"), 3);

	private final KnownLayout known = new KnownLayout();

	@Test
	void aNodeInNoClusterSaysWhetherItIsEmptyUntilItBelongsToOne() {
		this.known.waits(true, null);
		assertThat(this.known.exchange(LayoutNode.WAITING)).isEqualTo(LayoutNode.WAITING);
		this.known.waits(false, null);
		assertThat(this.known.text()).isEqualTo(LayoutNode.NOT_EMPTY);

		Layout heard = new Layout(3, ONE);
		assertThat(this.known.exchange(heard.toText())).as("it knows one, and is not in it yet")
			.isEqualTo(LayoutNode.NOT_EMPTY);
		this.known.belongs();
		assertThat(this.known.text()).isEqualTo(heard.toText());
	}

	@Test
	void onlyNewerLayoutsAreLearnt() {
		this.known.learn(new Layout(0, ONE));
		this.known.belongs();
		this.known.exchange(new Layout(0, Topology.of(List.of("http://b:1"), 3)).toText());
		assertThat(this.known.newest()).as("the layout of another configuration").isEqualTo(new Layout(0, ONE));

		this.known.exchange(new Layout(5, ONE).toText());
		this.known.exchange(new Layout(4, ONE).toText());
		assertThat(this.known.newest()).extracting(Layout::number).isEqualTo(5L);
	}

	@Test
	void aNodeThatAsksToBeAddedIsRememberedByOthersUntilThatIsTaken() {
		KnownLayout other = new KnownLayout();
		ClusterNode asking = ClusterNode.parse("http://b:1?zone=x&weight=2");
		other.waits(true, asking);
		assertThat(other.text()).isEqualTo("waiting http://b:1?zone=x&weight=2");

		this.known.exchange(other.text());
		this.known.exchange(other.text());
		this.known.exchange("waiting b");
		assertThat(this.known.hasJoining()).isTrue();
		assertThat(this.known.takeJoining()).containsExactly(asking);
		assertThat(this.known.hasJoining()).isFalse();

		other.waits(false, asking);
		assertThat(other.text()).as("its store is not empty").isEqualTo(LayoutNode.NOT_EMPTY);
	}

	@Test
	void nothingIsCopiedForALayoutWhileThatIsPaused() {
		this.known.paused(5, true);
		assertThat(this.known.pausedBecause(5)).isNotNull();
		assertThat(this.known.pausedBecause(6)).as("the next layout").isNull();
		this.known.paused(5, false);
		assertThat(this.known.pausedBecause(5)).isNull();
	}

	@Test
	void theLayoutOfAnotherClusterIsIgnored() {
		Layout own = Layout.founding(ONE);
		this.known.learn(own);
		this.known.belongs();
		Layout other = Layout.founding(Topology.of(List.of("http://a:1", "http://b:1"), 3));

		this.known.exchange(new Layout(7, ONE, other.founding()).toText());
		assertThat(this.known.newest()).isEqualTo(own);
		this.known.exchange(new Layout(3, ONE, own.founding()).toText());
		assertThat(this.known.newest()).extracting(Layout::number).isEqualTo(3L);
	}

	@Test
	void whatIsNoLayoutChangesNothing() {
		this.known.learn(new Layout(5, ONE));
		this.known.belongs();

		for (String text : List.of("", "layout", "layout x", "layout 9", "layout 9\nnode", LayoutNode.WAITING)) {
			assertThat(this.known.exchange(text)).as(text).isEqualTo(new Layout(5, ONE).toText());
		}
	}

}
