package io.kvorum.access;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.kvorum.testing.Generator;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class AccessControlTests {

	private static final String SECRET = KeysFiles.SECRET;

	private static final String RULES = "\"rules\":[{\"prefix\":\"a/\",\"rights\":[\"read\"]}]";

	private static final String RATED = RULES + ",\"rate\":{\"per-second\":1,\"burst\":2}";

	private final SteeredTime time = new SteeredTime();

	private AccessControl by(String more) {
		return AccessControl.by(ring(SECRET, more), this.time);
	}

	private KeyRing ring(String secret, String more) {
		return KeysFile.read(KeysFiles.file(KeysFiles.key("a", secret, more)), this.time.nanos());
	}

	private static void assertDenied(AccessControl control, Denial why, String... authorization) {
		assertThatExceptionOfType(DeniedException.class).isThrownBy(() -> control.admit(List.of(authorization)))
			.satisfies(ex -> assertThat(ex.denial()).isEqualTo(why));
	}

	@Test
	void whoeverHasTheSecretIsLetIn() {
		assertThat(by(RULES).admit(List.of("Bearer a." + SECRET)).id()).isEqualTo("a");
		assertThat(by(RULES).admit(List.of("bearer a." + SECRET)).id()).isEqualTo("a");
	}

	@Test
	void whereAccessIsNotControlledAnybodyMayDoAnything() {
		ApiKey anyone = AccessControl.off(this.time).admit(List.of("nonsense"));

		for (Right right : Right.values()) {
			assertThat(anyone.may(right, Generator.key("a"))).isTrue();
		}
	}

	@Test
	void withoutAKeyNobodyIsLetIn() {
		assertDenied(by(RULES), Denial.MISSING);
	}

	@Test
	void severalHeadersAreNoneWhicheverIsGood() {
		String good = "Bearer a." + SECRET;
		assertDenied(by(RULES), Denial.MALFORMED, good, good);
		assertDenied(by(RULES), Denial.MALFORMED, good, "Bearer b." + SECRET);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "Bearer", "Bearer ", "Bearer .", "Bearer a", "Bearer a.", "Bearer a.short", "a.%s",
			"Basic a.%s", "Bearer  a.%s", "Bearer\ta.%s", "Bearer .%s", "Bearer a.%sx", "Bearer a.%s ", "Bearer a b.%s",
			"Bearer a,b.%s", "Bearer a\u00e4.%s", "Bearer a\u0000.%s", "Bearer a..%s", "Bearer a,Bearer a.%s",
			" Bearer a.%s", "Bearer\u00a0a.%s" })
	void whatHasAnotherFormIsNoKey(String header) {
		assertDenied(by(RULES), Denial.MALFORMED, header.formatted(SECRET));
	}

	@Test
	void anIdHasALimit() {
		String longest = "a".repeat(Credentials.MAX_ID_LENGTH);
		assertDenied(by(RULES), Denial.WRONG, "Bearer " + longest + "." + SECRET);
		assertDenied(by(RULES), Denial.MALFORMED, "Bearer " + longest + "a." + SECRET);
		assertDenied(by(RULES), Denial.MALFORMED, "Bearer " + "a".repeat(1 << 20) + "." + SECRET);
	}

	@Test
	void anotherSecretAndAnotherIdAreTheSame() {
		for (int i = 0; i < SECRET.length(); i++) {
			char other = (SECRET.charAt(i) == 'x') ? 'y' : 'x';
			String wrong = SECRET.substring(0, i) + other + SECRET.substring(i + 1);
			assertDenied(by(RULES), Denial.WRONG, "Bearer a." + wrong);
		}
		assertDenied(by(RULES), Denial.WRONG, "Bearer b." + SECRET);
		assertDenied(by(RULES), Denial.WRONG, "Bearer A." + SECRET);
		assertDenied(by(RULES), Denial.WRONG, "Bearer nobody." + SECRET);
	}

	@Test
	void aKeyExpiresAtItsInstant() {
		Instant expiry = Instant.ofEpochMilli(SteeredTime.START_MILLIS + 1000);
		AccessControl control = by(RULES + ",\"expires\":\"" + expiry + "\"");

		this.time.pass(Duration.ofMillis(999));
		assertThat(control.admit(List.of("Bearer a." + SECRET)).id()).isEqualTo("a");
		this.time.pass(Duration.ofMillis(1));
		assertDenied(control, Denial.EXPIRED, "Bearer a." + SECRET);
		assertDenied(control, Denial.WRONG, "Bearer a." + SECRET.replace('a', 'b'));
	}

	@Test
	void aRateIsUsedUpByThoseWhoHaveTheSecretOnly() {
		AccessControl control = by(RATED);
		for (int i = 0; i < 100; i++) {
			assertDenied(control, Denial.WRONG, "Bearer a." + SECRET.replace('a', 'b'));
		}
		control.admit(List.of("Bearer a." + SECRET));
		control.admit(List.of("Bearer a." + SECRET));

		DeniedException denied = catchThrowableOfType(DeniedException.class,
				() -> control.admit(List.of("Bearer a." + SECRET)));
		assertThat(denied.denial()).isEqualTo(Denial.RATE);
		assertThat(denied.waitNanos()).isEqualTo(Duration.ofSeconds(1).toNanos());
	}

	@Test
	void newKeysReplaceAllThatWere() {
		AccessControl control = by(RULES);
		String other = SECRET.replace('a', 'b');
		control.use(ring(other, RULES));

		assertDenied(control, Denial.WRONG, "Bearer a." + SECRET);
		assertThat(control.admit(List.of("Bearer a." + other)).id()).isEqualTo("a");
	}

	@Test
	void whoWasLetInGoesOnByTheKeysOfNowAndNeedsNoToken() {
		AccessControl control = by(RATED);
		ApiKey admitted = control.admit(List.of("Bearer a." + SECRET));
		for (int i = 0; i < 10; i++) {
			assertThat(control.readmit(admitted)).isSameAs(admitted);
		}
		control.use(ring(SECRET, "\"actuator\":[\"metrics\"]"));
		assertThat(control.readmit(admitted).may(Right.READ, Generator.key("a/b"))).isFalse();
		control.use(ring(SECRET, RULES + ",\"expires\":\"2001-01-01T00:00:00Z\""));
		assertGoesOnNoMore(control, admitted, Denial.EXPIRED);
		control.use(ring(SECRET.replace('a', 'b'), RULES));
		assertGoesOnNoMore(control, admitted, Denial.WRONG);
		control.use(KeyRing.EMPTY);
		assertGoesOnNoMore(control, admitted, Denial.WRONG);
		assertThat(AccessControl.off(this.time).readmit(ApiKey.anyone())).isSameAs(ApiKey.anyone());
	}

	private static void assertGoesOnNoMore(AccessControl control, ApiKey admitted, Denial why) {
		assertThatExceptionOfType(DeniedException.class).isThrownBy(() -> control.readmit(admitted))
			.satisfies(ex -> assertThat(ex.denial()).isEqualTo(why));
	}

	@Test
	void aFileThatIsLoadedAgainFillsNoBucketUnlessTheRateIsAnotherOne() {
		AccessControl control = by(RATED);
		control.admit(List.of("Bearer a." + SECRET));
		control.admit(List.of("Bearer a." + SECRET));

		control.use(ring(SECRET, RATED));
		assertDenied(control, Denial.RATE, "Bearer a." + SECRET);
		control.use(ring(SECRET, RULES + ",\"rate\":{\"per-second\":1,\"burst\":3}"));
		assertThat(control.admit(List.of("Bearer a." + SECRET)).id()).isEqualTo("a");
	}

	@Test
	void itTellsSinceWhenTheFileCannotBeUsed() {
		AccessControl control = by(RULES);
		assertThat(control.staleSeconds()).isZero();

		control.keep("broken");
		this.time.pass(Duration.ofSeconds(3));
		control.keep("broken in another way");
		assertThat(control.staleSeconds()).isEqualTo(3);
		assertThat(control.state().trouble()).isEqualTo("broken in another way");
		assertThat(control.admit(List.of("Bearer a." + SECRET)).id()).isEqualTo("a");

		control.use(ring(SECRET, RULES));
		assertThat(control.staleSeconds()).isZero();
		assertThat(control.state()).isEqualTo(new AccessState(true, 1, null, 0));
	}

	@Test
	void noTextHasASecret() {
		Credentials credentials = Credentials.parse("Bearer a." + SECRET);
		assertThat(String.valueOf(credentials)).doesNotContain(SECRET);
		assertThat(by(RULES).admit(List.of("Bearer a." + SECRET))).hasToString("ApiKey[a]");
	}

}
