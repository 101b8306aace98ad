package io.kvorum.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import io.kvorum.kv.Version;
import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.testing.Generator;
import io.kvorum.transport.TransportEvents.Call;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

class PeerCallTests {

	private final List<Reply> replies = new ArrayList<>();

	private PeerCall call(Call call) {
		return call(call, null);
	}

	private PeerCall call(Call call, @Nullable Executor caller) {
		List<PeerCall> made = new ArrayList<>();
		Mono.<Reply>create(
				sink -> made.add(new PeerCall(call, Generator.key("key"), Version.ABSENT, 0, 0, sink, caller)))
			.subscribe(this.replies::add);
		return made.getFirst();
	}

	/** A page takes longer than a read: it would teach the hedge to wait. */
	@ParameterizedTest
	@CsvSource({ "READ, true", "READ_VERSION, true", "STORE, false", "WRITE_BACK, false", "REPAIR, false",
			"PREPARE, false", "ACCEPT, false", "SCAN, false", "QUERY, false" })
	void readsOfSingleEntriesTellHowLongAReadTakesAndNothingElseDoes(Call call, boolean tells) {
		assertThat(call(call).isRead()).isEqualTo(tells);
	}

	/** A promise of a lost prepare stores nothing. */
	@ParameterizedTest
	@CsvSource({ "READ, false", "READ_VERSION, false", "STORE, true", "WRITE_BACK, true", "REPAIR, true",
			"PREPARE, false", "ACCEPT, true", "SCAN, false", "QUERY, false" })
	void whatStoresAndIsLostMayHaveHappened(Call call, boolean mayHaveHappened) {
		Failed lost = call(call).lost(Reason.TIMEOUT, "late");

		assertThat(lost.mayHaveHappened()).isEqualTo(mayHaveHappened);
		assertThat(lost.mayRetry()).isTrue();
	}

	@Test
	void aCallerWhoseEventLoopHasEndedIsToldAllTheSame() {
		PeerCall read = call(Call.READ, _ -> {
			throw new RejectedExecutionException("ended");
		});
		Failed lost = read.lost(Reason.DISCONNECTED, "gone");
		read.reply(lost);

		assertThat(this.replies).containsExactly(lost);
	}

	@Test
	void aScanWhoseReplyIsLostHasChangedNothing() {
		PeerCall scan = call(Call.SCAN);
		Failed lost = scan.lost(Reason.DISCONNECTED, "gone");
		scan.reply(lost);

		assertThat(lost.mayHaveHappened()).isFalse();
		assertThat(scan.isOver()).isTrue();
		assertThat(this.replies).containsExactly(lost);
	}

}
