package io.kvorum.wire;

import java.time.Duration;

import io.kvorum.wire.ConnectionState.Phase;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Time is an argument here: the defaults, second by second. */
class PatienceTests {

	private final Patience patience = new Patience(WireLimits.defaults(), 0);

	private int requests;

	private long bodyBytes;

	@Test
	void theFirstHeadIsTimedFromAccept() {
		assertThat(look(Phase.NEW, 5)).isNull();
		assertThat(look(Phase.HEAD, 9)).isNull();
		assertThat(look(Phase.HEAD, 10)).isEqualTo(Timeout.HEADER);
	}

	@Test
	void aLaterHeadIsTimedFromItsFirstByte() {
		this.requests = 1;
		assertThat(look(Phase.IDLE, 50)).isNull();
		assertThat(look(Phase.HEAD, 55)).isNull();
		assertThat(look(Phase.HEAD, 64)).isNull();
		assertThat(look(Phase.HEAD, 65)).isEqualTo(Timeout.HEADER);
	}

	@Test
	void aConnectionIsNotIdleForAsLongAsRequestsCome() {
		for (int second = 0; second < 600; second += 59) {
			this.requests++;
			assertThat(look(Phase.IDLE, second)).isNull();
		}
		assertThat(look(Phase.IDLE, 700)).isEqualTo(Timeout.IDLE);
	}

	@Test
	void theServerTakesItsTime() {
		assertThat(look(Phase.SERVING, 0)).isNull();
		assertThat(look(Phase.SERVING, 100_000)).isNull();
	}

	@Test
	void aClientTakesAWholeAnswerInTime() {
		assertThat(look(Phase.SERVING, 0)).isNull();
		assertThat(look(Phase.SENDING, 100)).isNull();
		assertThat(look(Phase.SENDING, 159)).isNull();
		assertThat(look(Phase.SENDING, 160)).isEqualTo(Timeout.WRITE_STALL);
	}

	@Test
	void aBodyStallsWithoutAByteOfIt() {
		assertThat(look(Phase.BODY, 0)).isNull();
		this.bodyBytes++;
		assertThat(look(Phase.BODY, 9)).isNull();
		assertThat(look(Phase.BODY, 18)).isNull();
		assertThat(look(Phase.BODY, 19)).isEqualTo(Timeout.BODY_STALL);
	}

	@Test
	void aBodyThatNobodyWaitsForDoesNotStall() {
		for (int second = 0; second < 60; second++) {
			assertThat(look(Phase.BODY, second, false)).isNull();
		}
		assertThat(look(Phase.BODY, 60, false)).isEqualTo(Timeout.BODY);
	}

	@Test
	void aBodyThatDripsIsBoundedAsAWhole() {
		for (int second = 0; second < 60; second++) {
			this.bodyBytes++;
			assertThat(look(Phase.BODY, second)).isNull();
		}
		this.bodyBytes++;
		assertThat(look(Phase.BODY, 60)).isEqualTo(Timeout.BODY);
	}

	@Test
	void aLimitIsMetAgainAfterItsTime() {
		assertThat(look(Phase.BODY, 0)).isNull();
		assertThat(look(Phase.BODY, 10)).isEqualTo(Timeout.BODY_STALL);
		assertThat(look(Phase.BODY, 19)).isNull();
		assertThat(look(Phase.BODY, 20)).isEqualTo(Timeout.BODY_STALL);
	}

	private @Nullable Timeout look(Phase phase, int second) {
		return look(phase, second, true);
	}

	private @Nullable Timeout look(Phase phase, int second, boolean wanted) {
		return this.patience.look(phase, this.requests, this.bodyBytes, wanted, Duration.ofSeconds(second).toNanos());
	}

}
