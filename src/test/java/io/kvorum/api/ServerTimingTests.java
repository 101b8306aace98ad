package io.kvorum.api;

import java.time.Duration;

import io.kvorum.operation.OperationObserver.Call;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What a client is told that asked where the time of its request went. */
class ServerTimingTests {

	/** Section 3 of W3C Server Timing, as far as it is used. */
	private static final String SYNTAX = "%1$s(, %1$s)*"
		.formatted("[a-z-]+(;desc=\"[ !#-\\[\\]-~]*\")?(;dur=[0-9]+\\.[0-9]{3})?");

	private final SteeredTime time = new SteeredTime();

	private final ServerTiming timing = new ServerTiming(this.time);

	@Test
	void stepsAndReplicasAreToldAsFarAsTheyAreKnown() {
		Call first = this.timing.asked("http://10.0.0.1:9090", Step.VERSIONS, false);
		this.timing.asked("http://10.0.0.2:9090", Step.VERSIONS, true);
		first.ended("ok", 571_999);
		this.timing.took(Step.VERSIONS, 602_000);
		this.timing.took(Step.STORE, 1_000_000_007);
		this.time.pass(Duration.ofNanos(1_912_345));

		assertThat(this.timing.header()).isEqualTo("total;dur=1.912, versions;dur=0.602, store;dur=1000.000, "
				+ "replica;desc=\"http://10.0.0.1:9090 versions ok\";dur=0.571, "
				+ "replica;desc=\"http://10.0.0.2:9090 versions pending hedge\"");
		assertThat(this.timing.header()).matches(SYNTAX);
	}

	@Test
	void fractionsOfAMillisecondHaveThreeDigits() {
		this.timing.took(Step.READ, 0);
		this.timing.took(Step.READ, 9_000);
		this.timing.took(Step.READ, 99_000);

		assertThat(this.timing.header()).isEqualTo("total;dur=0.000, read;dur=0.000, read;dur=0.009, read;dur=0.099");
	}

	@Test
	void howManyReplicasAreToldIsLimited() {
		for (int i = 0; i < 100_000; i++) {
			this.timing.asked("http://node:9090", Step.PAGE, false).ended("ok", 1_000);
		}
		assertThat(this.timing.header().split("replica;", -1)).hasSize(1 + ServerTiming.MAX_CALLS);
	}

	@Test
	void theHeaderIsThereForWhoAskedAndForNobodyElse() {
		try (EntityServer server = new EntityServer(); RawHttp client = server.connect()) {
			for (String request : new String[] { "GET /v0/entity?id=a", "PUT /v0/entity?id=a", "GET /v0/entity?id=a",
					"HEAD /v0/entity?id=a", "DELETE /v0/entity?id=a", "GET /v0/entity?id=", "PATCH /v0/entity?id=a" }) {
				assertThat(timing(client, request, "Kvorum-Timing: 1")).as(request).matches(SYNTAX).startsWith("total");
				assertThat(timing(client, request, "Accept: */*")).as(request).isNull();
			}
		}
	}

	@Test
	void whatANodeHasDoneByItsReplicaIsInIt() {
		try (EntityServer server = new EntityServer(); RawHttp client = server.connect()) {
			assertThat(timing(client, "PUT /v0/entity?id=a", "kvorum-timing: 1"))
				.matches("total;dur=\\S+, store;dur=\\S+, replica;desc=\"\\S+ store ok\";dur=\\S+");
			assertThat(timing(client, "GET /v0/entity?id=a", "KVORUM-TIMING: 1"))
				.matches("total;dur=\\S+, read;dur=\\S+, replica;desc=\"\\S+ read ok\";dur=\\S+");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "Kvorum-Timing: 0", "Kvorum-Timing:", "Kvorum-Timing: true", "Server-Timing: 1" })
	void onlyOneValueAsksForIt(String header) {
		try (EntityServer server = new EntityServer(); RawHttp client = server.connect()) {
			assertThat(timing(client, "GET /v0/entity?id=a", header)).isNull();
		}
	}

	private static @Nullable String timing(RawHttp client, String request, String header) {
		String length = request.startsWith("PUT") ? "Content-Length: 0\r\n" : "";
		client.send(request + " HTTP/1.1\r\nHost: a\r\n" + length + header + "\r\n\r\n");
		Response response = request.startsWith("HEAD") ? client.readStatus() : client.read();
		if (response == null) {
			throw new AssertionError("the connection was closed without an answer");
		}
		return response.header("server-timing");
	}

}
