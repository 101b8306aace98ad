package io.kvorum.coordination;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.kvorum.clock.Deadline;
import io.kvorum.cluster.Member;
import io.kvorum.coordination.ScriptedReplica.Asked;
import io.kvorum.coordination.ScriptedReplica.Call;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.KeyRange;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Acknowledged;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.replication.PeerQuery;
import io.kvorum.replication.Replica;
import io.kvorum.storage.Page;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

class ReadRepairTests {

	private static final Key KEY = Generator.key("key");

	/** As the class says: that many at once, and that many that wait. */
	private static final int AT_ONCE = 16;

	private static final int WAITING = 1024;

	private final ScriptedCluster cluster = new ScriptedCluster(1, 1);

	private final ScriptedReplica replica = this.cluster.replica(0);

	private final ReadRepair repair = this.cluster.readRepair;

	private final Entry entry = Generator.live(this.cluster.version(0), "value");

	private void submit(int times) {
		IntStream.range(0, times).forEach(_ -> this.repair.submit(this.replica, KEY, this.entry));
	}

	private long happened(String event) {
		return this.cluster.events.stream().filter(event::equals).count();
	}

	@Test
	void aRepairIsAStoreOfARepairWithADeadlineThatCountsFromTheRead() {
		submit(1);
		this.cluster.time.pass(Duration.ofSeconds(1));
		this.repair.run().subscribe();

		assertThat(this.replica.asked()).containsExactly(Asked.REPAIR);
		assertThat(this.replica.last().entry()).isEqualTo(this.entry);
		assertThat(this.replica.last().deadline.remainingNanos(this.cluster.time))
			.isEqualTo(Coordinators.SETTINGS.writeTimeout().minusSeconds(1).toNanos());
	}

	@Test
	void fewAreDoneAtATimeManyWaitAndTheOthersAreDropped() {
		this.repair.run().subscribe();
		submit(AT_ONCE + WAITING + 100);
		assertThat(this.replica.stores()).hasSize(AT_ONCE);
		assertThat(happened("repair dropped")).isEqualTo(100);
		assertThat(happened("repairing")).isEqualTo(AT_ONCE + WAITING);

		answerAll();
		assertThat(this.replica.stores()).hasSize(AT_ONCE + WAITING);
		submit(1);
		assertThat(this.replica.stores()).hasSize(AT_ONCE + WAITING + 1);
	}

	private void answerAll() {
		for (int next = 0; next < this.replica.stores().size(); next++) {
			this.replica.stores().get(next).answer(Acknowledged.INSTANCE);
		}
	}

	@Test
	void whatIsSubmittedBeforeTheBeginningIsDoneThenUpToTheLimit() {
		submit(WAITING + 1);
		assertThat(happened("repair dropped")).isEqualTo(1);
		assertThat(this.replica.asked()).isEmpty();

		this.replica.script(_ -> Acknowledged.INSTANCE);
		this.repair.run().subscribe();
		assertThat(this.replica.stores()).hasSize(WAITING);
	}

	@Test
	void itGoesOnAfterAFailureAnErrorAndAReplicaThatThrows() {
		Disposable running = this.repair.run().subscribe();
		submit(3);
		List<Call> stores = this.replica.stores();
		stores.get(0).answer(Failed.notDone(Reason.OVERLOADED, "full"));
		stores.get(1).fail(new IllegalStateException("planted"));
		this.repair.submit(new ThrowingReplica(), KEY, this.entry);
		submit(AT_ONCE);

		assertThat(running.isDisposed()).isFalse();
		assertThat(this.replica.stores()).hasSize(3 + AT_ONCE - 1);
	}

	@Test
	void whenItIsOverRepairsAreDropped() {
		this.repair.run().subscribe().dispose();
		submit(1);

		assertThat(this.replica.asked()).isEmpty();
		assertThat(this.cluster.events).containsExactly("repair dropped");
	}

	/** Has a bug. */
	private static final class ThrowingReplica implements Replica {

		@Override
		public Member member() {
			throw new IllegalStateException("planted");
		}

		@Override
		public Mono<Reply> read(Key key, Deadline deadline) {
			throw new IllegalStateException("planted");
		}

		@Override
		public Mono<Reply> readVersion(Key key, Deadline deadline) {
			throw new IllegalStateException("planted");
		}

		@Override
		public Mono<Reply> store(Key key, Entry entry, Purpose purpose, Deadline deadline) {
			throw new IllegalStateException("planted");
		}

		@Override
		public Mono<Reply> scan(KeyRange range, Page.Limit limit, Deadline deadline) {
			throw new IllegalStateException("planted");
		}

		@Override
		public Mono<Reply> ask(PeerQuery query, Deadline deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public long expectedNanos() {
			return 0;
		}

	}

}
