package io.kvorum.convergence.change;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.cluster.TopologyChange;
import io.kvorum.cluster.TopologyChange.Share;
import io.kvorum.convergence.change.CopyProgress.Report;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Of nodes a and b with 100 partitions each, a gives half of its own to c. */
class CopyProgressTests {

	private static final Topology NODES = Topology.of(List.of("http://a:1", "http://b:1", "http://c:1"), 1);

	private static final Member A = NODES.member("http://a:1");

	private static final Member B = NODES.member("http://b:1");

	private static final Member C = NODES.member("http://c:1");

	private static final TopologyChange CHANGE = new TopologyChange(
			Map.of(A.id(), new Share(100, 0, 50), B.id(), new Share(100, 0, 0), C.id(), new Share(0, 50, 0)));

	private static CopyProgress progress(long bytesPerSecond, Report... reports) {
		return CopyProgress.of(C, CHANGE, List.of(reports), bytesPerSecond);
	}

	@Test
	void whatANodeIsToGetIsEstimatedByWhatTheOthersHold() {
		CopyProgress progress = progress(200, new Report(A, Step.CLOSED, 9_000, 0),
				new Report(B, Step.CLOSED, 11_000, 0), new Report(C, Step.CLOSED, 0, 1_000));

		assertThat(progress.of(C)).isEqualTo(new CopyProgress.OfNode(Step.CLOSED, 5_000, 1_000));
		assertThat(progress.own()).isEqualTo(progress.of(C));
		assertThat(progress.of(A).bytes()).isZero();
		assertThat(progress.bytes()).isEqualTo(5_000);
		assertThat(progress.copiedBytes()).isEqualTo(1_000);
		assertThat(progress.remaining()).isEqualTo(Duration.ofSeconds(20));
	}

	@Test
	void aNodeThatSaysNothingIsNotCounted() {
		CopyProgress progress = progress(0, Report.none(A), new Report(B, Step.OPEN, 10_000, 0), Report.none(C));

		assertThat(progress.of(C)).isEqualTo(new CopyProgress.OfNode(null, 5_000, 0));
		assertThat(progress.remaining()).as("nothing arrives").isNull();
	}

	@Test
	void whatNobodyKnowsIsNotToBeCopied() {
		CopyProgress progress = progress(0, Report.none(A), Report.none(B), Report.none(C));

		assertThat(progress.bytes()).isZero();
		assertThat(progress.remaining()).isNull();
		assertThat(progress(0, new Report(A, Step.DONE, 0, 0), new Report(B, Step.SYNCED, 0, 0),
				new Report(C, Step.DONE, 0, 0))
			.remaining()).as("in an empty store").isEqualTo(Duration.ZERO);
	}

	/** An estimate may be too low, or too high. */
	@Test
	void aNodeThatHasAllHasNothingLeft() {
		assertThat(progress(1, new Report(A, Step.CLOSED, 10_000, 0), new Report(B, Step.CLOSED, 10_000, 0),
				new Report(C, Step.SYNCED, 0, 3_000))
			.remaining()).isEqualTo(Duration.ZERO);
		assertThat(progress(1, new Report(A, Step.CLOSED, 10_000, 0), new Report(B, Step.CLOSED, 10_000, 0),
				new Report(C, Step.CLOSED, 0, 6_000))
			.of(C)
			.bytes()).isEqualTo(6_000);
	}

}
