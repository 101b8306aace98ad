package io.kvorum.transport;

import java.util.ArrayList;
import java.util.List;

import io.kvorum.quorum.Reply;
import io.kvorum.quorum.Reply.Failed;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.testing.Generator;
import io.kvorum.transport.TransportEvents.Call;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

class PeerCallTests {

	private final List<Reply> replies = new ArrayList<>();

	private PeerCall call(Call call) {
		List<PeerCall> made = new ArrayList<>();
		Mono.<Reply>create(sink -> made.add(new PeerCall(call, Generator.key("key"), Frame.NO_BYTES, 0, 0, sink, null)))
			.subscribe(this.replies::add);
		return made.getFirst();
	}

	/** A page takes longer than a read: it would teach the hedge to wait. */
	@ParameterizedTest
	@CsvSource({ "READ, true", "READ_VERSION, true", "STORE, false", "REPAIR, false", "SCAN, false" })
	void readsOfSingleEntriesTellHowLongAReadTakesAndNothingElseDoes(Call call, boolean tells) {
		assertThat(call(call).isRead()).isEqualTo(tells);
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
