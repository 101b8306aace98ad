package io.kvorum.wire;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.TestCa;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The guard behind TLS: no limit is looser, and no failure of TLS reaches the log. */
@Timeout(20)
@ExtendWith(OutputCaptureExtension.class)
@ParameterizedClass
@EnumSource(GuardedServer.Answers.class)
class SecuredServerTests {

	private static final String GET = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";

	/** A record that begins a ClientHello of 16 MB. */
	private static final String ENDLESS_HELLO = "\u0016\u0003\u0001\u0000\u0004\u0001\u00ff\u00ff\u00ff";

	private static final TestCa CA = TestCa.create("secured-server", "localhost");

	private final GuardedServer.Answers answers;

	SecuredServerTests(GuardedServer.Answers answers) {
		this.answers = answers;
	}

	private GuardedServer server(Consumer<GuardedServer.Limits> change) {
		return new GuardedServer(this.answers, GuardedServer.limits(change), CA.bundle("localhost"));
	}

	private static RawHttp connect(GuardedServer server) {
		return server.connect().secure(CA.client());
	}

	@Test
	void requestsOfOneConnectionAreServedAlsoWhereTheyComeTogether() {
		try (GuardedServer server = server((_) -> {
		}); RawHttp client = connect(server)) {
			client.send(GET.repeat(3));
			for (int i = 0; i < 3; i++) {
				assertThat(client.read()).isNotNull().extracting(Response::status).isEqualTo(200);
			}
		}
	}

	@Test
	void aRefusalIsReadToItsEndAndTheConnectionEndsByCloseNotify() {
		try (GuardedServer server = server((_) -> {
		}); RawHttp client = connect(server)) {
			client.send("GET /a;b HTTP/1.1\r\nHost: a\r\n\r\n");
			// An end without close_notify would be an exception, and one after the linger
			// time too late.
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(400);
			assertThat(server.served).isEmpty();
		}
	}

	@Test
	void aBodyThatIsTooLargeIsAnsweredWhileItIsSent() {
		try (GuardedServer server = server((_) -> {
		}); RawHttp client = connect(server)) {
			client.send("PUT /too-large HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + "x".repeat(100_000));
			assertThat(client.readUntilClosed()).extracting(Response::status).containsExactly(413);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "\u0016", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001" })
	void aHandshakeThatDoesNotComeToAnEndMeetsTheLimitOfTheHeaders(String begun, CapturedOutput output) {
		try (GuardedServer server = server((limits) -> limits.header = GuardedServer.SHORT);
				RawHttp client = server.connect()) {
			client.send(begun).awaitClosed();
			server.await(io.kvorum.wire.Timeout.HEADER);
		}
		assertThat(output).doesNotContain(" WARN ").doesNotContain(" ERROR ");
	}

	@Test
	void aHandshakeCountsTowardsTheTimeOfTheFirstHeaders() {
		try (GuardedServer server = server((limits) -> limits.header = Duration.ofSeconds(1));
				RawHttp client = connect(server)) {
			client.awaitClosed();
			assertThat(server.events).containsExactly(io.kvorum.wire.Timeout.HEADER);
		}
	}

	@Test
	void aConnectionInItsHandshakeIsOneOfThoseThatMayBeOpen() {
		try (GuardedServer server = server((limits) -> limits.maxConnections = 1);
				RawHttp first = server.connect().send("\u0016")) {
			server.awaitAdmitted();
			try (RawHttp second = server.connect()) {
				second.awaitClosed();
			}
			server.await("connection refused");
			assertThat(server.events).as("%s is kept", first).containsExactly("connection refused");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { GET, "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "nonsense",
			ENDLESS_HELLO, "\u0016\u0003\u0001\u0000\u0005\u0001\u0000\u0000\u0001\u0000",
			"\u0015\u0003\u0001\u0000\u0002\u0002(" })
	void whatIsNoTlsIsClosedAndCountedAndNotLogged(String bytes, CapturedOutput output) {
		try (GuardedServer server = server((_) -> {
		})) {
			for (int i = 0; i < 3; i++) {
				try (RawHttp client = server.connect()) {
					client.send(bytes).awaitClosed();
				}
			}
			server.await("handshake failed", 3);
			assertThat(server.served).isEmpty();
			try (RawHttp client = connect(server)) {
				assertThat(client.exchange(GET)).extracting(Response::status).containsExactly(200);
			}
			assertThat(server.events).filteredOn("handshake failed"::equals).hasSize(3);
		}
		assertThat(output).doesNotContain(" WARN ").doesNotContain(" ERROR ");
	}

	@Test
	void aClientThatTrustsAnotherAuthorityIsCountedAndNotLogged(CapturedOutput output) {
		TestCa another = TestCa.create("secured-server-another", "localhost");
		try (GuardedServer server = server((_) -> {
		}); RawHttp client = server.connect()) {
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> client.secure(another.client()));
			server.await("handshake failed");
		}
		assertThat(output).doesNotContain(" WARN ").doesNotContain(" ERROR ");
	}

	@Test
	void whoConnectsAndHangsUpIsNoFailure() {
		try (GuardedServer server = server((limits) -> limits.maxConnections = 1)) {
			server.connect().close();
			List<Response> answers = List.of();
			while (answers.isEmpty()) {
				answers = exchange(server);
			}
			assertThat(server.events).doesNotContain("handshake failed");
		}
	}

	private static List<Response> exchange(GuardedServer server) {
		try (RawHttp client = connect(server)) {
			return client.exchange(GET);
		}
		catch (UncheckedIOException ex) {
			return List.of(); // The first connection still has the place.
		}
	}

}
