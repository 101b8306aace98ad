package io.kvorum.wire;

import io.kvorum.testing.RawHttp;
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

/** Faults of a client are counted and not logged: they could fill the disk. */
@Timeout(20)
@ExtendWith(OutputCaptureExtension.class)
@ParameterizedClass
@EnumSource(GuardedServer.Answers.class)
class QuietLogTests {

	private static final String GET = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";

	private final GuardedServer.Answers answers;

	QuietLogTests(GuardedServer.Answers answers) {
		this.answers = answers;
	}

	@ParameterizedTest
	@ValueSource(strings = { "nonsense\r\n\r\n", "GET /a;b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /echo HTTP/2.0\r\n\r\n",
			"PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nX\r\n\r\n",
			"PUT /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nX\r\n\r\n" })
	void malformedRequests(String bytes, CapturedOutput output) {
		try (GuardedServer server = new GuardedServer(this.answers, GuardedServer.limits((limits) -> {
			limits.bodyStall = GuardedServer.SHORT;
			limits.body = GuardedServer.SHORT;
		}))) {
			try (RawHttp client = server.connect()) {
				client.send(bytes).awaitClosed();
			}
		}
		assertThat(output).doesNotContain(" WARN ").doesNotContain(" ERROR ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "GET /e", "GET /held HTTP/1.1\r\nHost: a\r\n\r\n",
			"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n", "PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
			"PUT /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
			"PUT /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab" })
	void resets(String bytes, CapturedOutput output) {
		try (GuardedServer server = new GuardedServer(this.answers,
				GuardedServer.limits((limits) -> limits.maxConnections = 1))) {
			RawHttp client = server.connect();
			client.send(bytes).reset();
			awaitPlace(server);
		}
		assertThat(output).doesNotContain(" WARN ").doesNotContain(" ERROR ");
	}

	@Test
	void aTrafficOfGoodRequests(CapturedOutput output) {
		try (GuardedServer server = new GuardedServer(this.answers, WireLimits.defaults());
				RawHttp client = server.connect()) {
			assertThat(client.exchange(GET)).hasSize(1);
			assertThat(client.exchange(GET)).hasSize(1);
		}
		assertThat(output).doesNotContain(" WARN ").doesNotContain(" ERROR ");
	}

	/** Until the server has seen the end of the only connection it admits. */
	private static void awaitPlace(GuardedServer server) {
		boolean served = false;
		while (!served) {
			try (RawHttp client = server.connect()) {
				served = !client.exchange(GET).isEmpty();
			}
		}
	}

}
