package io.kvorum.transport;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.kvorum.clock.TimeSource;
import io.kvorum.testing.SteeredTime;
import io.kvorum.transport.Handshake.Opening;
import io.kvorum.transport.Handshake.Side;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class HandshakeTests {

	private final SteeredTime time = new SteeredTime();

	private long random;

	private final Handshake called = handshake("a secret");

	private final Handshake caller = handshake("a secret");

	private final Opening opening = new Opening(this.called.challenge(), this.caller.nonce(), "a", "b", "SMALL", "t");

	private Handshake handshake(String secret) {
		return new Handshake(secret, () -> ++this.random, this.time);
	}

	@Test
	void twoThatKnowTheSecretShowItToEachOther() {
		assertThat(this.called.isProof(this.caller.proof(Side.CALLER, this.opening), Side.CALLER, this.opening))
			.isTrue();
		assertThat(this.called.accept(this.opening.challenge())).isTrue();
		assertThat(this.caller.isProof(this.called.proof(Side.CALLED, this.opening), Side.CALLED, this.opening))
			.isTrue();
	}

	@Test
	void aProofIsTheSameBytesAsEver() {
		Opening same = new Opening("c", "n", "from", "to", "SMALL", "t");

		assertThat(this.caller.proof(Side.CALLER, same))
			.isEqualTo("7179f5215c5d768788a7647a0653deed302e885a2a97ebd2a90fd1c170515b61");
		assertThat(this.caller.proof(Side.CALLED, same))
			.isEqualTo("110fccd4d8c1d88a3c99d6580409a83cd2478e988ddb7d3c5436e6fac85a5d78");
	}

	@Test
	void whoDoesNotKnowItShowsNothing() {
		String proof = handshake("another secret").proof(Side.CALLER, this.opening);

		assertThat(this.called.isProof(proof, Side.CALLER, this.opening)).isFalse();
		assertThat(this.called.isProof(null, Side.CALLER, this.opening)).isFalse();
		assertThat(this.called.isProof("", Side.CALLER, this.opening)).isFalse();
	}

	@Test
	void theProofOfOneSideIsNotThatOfTheOther() {
		String proof = this.caller.proof(Side.CALLER, this.opening);

		assertThat(this.caller.isProof(proof, Side.CALLED, this.opening)).isFalse();
	}

	@Test
	void aProofIsOfAllThatWasSaid() {
		String proof = this.caller.proof(Side.CALLER, this.opening);
		Opening it = this.opening;
		for (Opening other : List.of(
				new Opening(this.called.challenge(), it.nonce(), it.from(), it.to(), it.lane(), it.topology()),
				new Opening(it.challenge(), this.caller.nonce(), it.from(), it.to(), it.lane(), it.topology()),
				new Opening(it.challenge(), it.nonce(), "c", it.to(), it.lane(), it.topology()),
				new Opening(it.challenge(), it.nonce(), it.from(), "c", it.lane(), it.topology()),
				new Opening(it.challenge(), it.nonce(), it.from(), it.to(), "LARGE", it.topology()),
				new Opening(it.challenge(), it.nonce(), it.from(), it.to(), it.lane(), "u"))) {
			assertThat(this.called.isProof(proof, Side.CALLER, other)).as("%s", other).isFalse();
		}
	}

	@Test
	void aChallengeIsTakenOnce() {
		assertThat(this.called.accept(this.opening.challenge())).isTrue();
		assertThat(this.called.accept(this.opening.challenge())).isFalse();
		this.time.pass(Handshake.LIFETIME.plusNanos(1));
		assertThat(this.called.accept(this.opening.challenge())).as("forgotten, and too old").isFalse();
	}

	@Test
	void aChallengeThatIsForgottenWhileItIsLookedAtIsNotTakenAgain() {
		InterruptedTime interrupted = new InterruptedTime(this.time);
		Handshake busy = new Handshake("a secret", () -> ++this.random, interrupted);
		String challenge = busy.challenge();
		String other = busy.challenge();
		assertThat(busy.accept(challenge)).isTrue();
		this.time.pass(Handshake.LIFETIME);
		interrupted.next = () -> {
			this.time.pass(Duration.ofNanos(1));
			busy.accept(other);
		};

		assertThat(busy.accept(challenge)).isFalse();
	}

	/** Something happens when the clock has just been read. */
	private static final class InterruptedTime implements TimeSource {

		private final SteeredTime time;

		private @Nullable Runnable next;

		InterruptedTime(SteeredTime time) {
			this.time = time;
		}

		@Override
		public long millis() {
			return this.time.millis();
		}

		@Override
		public long nanos() {
			long now = this.time.nanos();
			Runnable interruption = this.next;
			this.next = null;
			if (interruption != null) {
				interruption.run();
			}
			return now;
		}

	}

	@Test
	void aChallengeIsTakenWhileItIsYoung() {
		String other = this.called.challenge();
		this.time.pass(Handshake.LIFETIME);
		assertThat(this.called.accept(this.opening.challenge())).isTrue();
		this.time.pass(Duration.ofNanos(1));
		assertThat(this.called.accept(other)).isFalse();
	}

	@Test
	void aChallengeOfSomebodyElseIsNone() {
		assertThat(this.called.accept(this.caller.challenge())).isFalse();
		assertThat(handshake("a secret").accept(this.opening.challenge())).as("of before a restart").isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "x", "00", "zz", "-1" })
	void whatIsNoChallengeIsNone(String text) {
		assertThat(this.called.accept(text)).isFalse();
		assertThat(this.called.accept(this.opening.challenge() + text.repeat(1) + "0")).isFalse();
	}

	@Test
	void aChallengeThatSomebodyHasChangedIsNone() {
		String good = this.opening.challenge();
		for (int i = 0; i < good.length(); i++) {
			char other = (good.charAt(i) == '0') ? '1' : '0';
			assertThat(this.called.accept(good.substring(0, i) + other + good.substring(i + 1))).as("at %d", i)
				.isFalse();
		}
		assertThat(this.called.accept(good)).isTrue();
	}

	@Test
	void nothingIsSaidTwice() {
		Set<String> said = new HashSet<>();
		for (int i = 0; i < 1000; i++) {
			assertThat(said.add(this.called.challenge())).isTrue();
			assertThat(said.add(this.called.nonce())).isTrue();
		}
	}

}
