package io.kvorum.bench;

import java.util.concurrent.TimeUnit;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Held;
import io.kvorum.quorum.Tally;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Measures the decisions of an operation that waits for two of three replicas: a tally is
 * asked after each reply, and for its result once it has decided.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class TallyBenchmark {

	int ack = 2;

	int from = 3;

	Version version = new Version(Version.lastTimestampOf(1_000_000), 1);

	Reply acknowledged = Acknowledged.INSTANCE;

	/** The first replica's reply to a read, with its entry. */
	Reply held = Held.of(new Live(this.version, this.from, Live.NEVER, "text/plain", Value.of(new byte[32])));

	/** The reply of another replica, which was asked for its version only. */
	Reply agrees = new Held(this.version, null);

	/** Counts two acknowledgements that decide, and a third one after them. */
	@Benchmark
	public Tally write(Blackhole decisions) {
		Tally tally = Tally.awaiting(this.ack, this.from);
		for (int position = 0; position < this.from; position++) {
			tally = tally.add(position, this.acknowledged);
			decisions.consume(tally.decision());
		}
		return tally;
	}

	/** Counts two replicas that agree: the newest version, and whether enough hold it. */
	@Benchmark
	public Held read(Blackhole decisions) {
		Tally tally = Tally.awaiting(this.ack, this.from).add(0, this.held);
		decisions.consume(tally.decision());
		tally = tally.add(1, this.agrees);
		decisions.consume(tally.decision());
		Held newest = tally.newest();
		decisions.consume(tally.isHeldByEnough(newest.version()));
		return newest;
	}

}
