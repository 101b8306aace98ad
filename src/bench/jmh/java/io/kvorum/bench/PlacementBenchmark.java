package io.kvorum.bench;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Placement;
import io.kvorum.cluster.RendezvousPlacement;
import io.kvorum.cluster.Topology;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Measures the placement of a key: its hash, a row of the table, a list of three members.
 * The table has 0.75 MB where there are three members and 2 MB from eight on; with 10,000
 * keys most of its rows are not in the first cache of a core.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class PlacementBenchmark {

	private static final int KEYS = 10_000;

	private static final int FACTOR = 3;

	@Param({ "3", "12" })
	int members;

	Keys keys;

	Placement placement;

	@Setup
	public void makeTable() {
		List<String> addresses = IntStream.range(0, this.members).mapToObj("http://node-%d:9080"::formatted).toList();
		this.placement = new RendezvousPlacement(Topology.of(addresses, FACTOR));
		this.keys = new Keys("place", KEYS);
	}

	@Benchmark
	public List<Member> replicasOf() {
		return this.placement.replicasOf(this.keys.next(), FACTOR);
	}

}
