package io.kvorum.wire;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What clients see of a server that stops. Nothing is timed: where a connection without a
 * request is not to be closed, its time is longer than the test may take.
 */
@Timeout(20)
@ParameterizedClass
@EnumSource(GuardedServer.Answers.class)
class DrainTests {

	private static final String GET = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";

	private static final String HELD = "GET /held HTTP/1.1\r\nHost: a\r\n\r\n";

	private final GuardedServer.Answers answers;

	private final CompletableFuture<Void> drained = new CompletableFuture<>();

	DrainTests(GuardedServer.Answers answers) {
		this.answers = answers;
	}

	@Test
	void withoutConnectionsItIsOverAtOnceAndTakesNoMore() {
		Drain drain = new Drain(GuardedServer.LONG);
		try (GuardedServer server = server(drain)) {
			stop(drain);
			this.drained.join();
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(server::connect)
				.withCauseInstanceOf(ConnectException.class);
		}
	}

	@Test
	void whatNeverEndsByItselfIsCutOff() {
		Drain drain = new Drain(Duration.ZERO, GuardedServer.SHORT);
		try (GuardedServer server = server(drain);
				RawHttp held = server.connect();
				RawHttp begun = server.connect();
				RawHttp endless = server.connect()) {
			held.send(HELD);
			begun.send("GET /e");
			endless.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
			awaitServed(server, "/held");
			awaitServed(server, "/endless");
			stop(drain);
			this.drained.join();
			held.awaitClosed();
			begun.awaitClosed();
		}
	}

	@Test
	void aServerThatWasNeverBoundHasNothingToDrain() {
		stop(new Drain(GuardedServer.LONG));
		assertThat(this.drained).isDone();
	}

	@Test
	void theNextRequestOfAnOpenConnectionIsAnsweredAndTheLast() {
		Drain drain = new Drain(GuardedServer.LONG);
		try (GuardedServer server = server(drain); RawHttp used = server.connect(); RawHttp fresh = server.connect()) {
			assertThat(used.send(GET).read()).extracting((it) -> it.header("connection")).isNull();
			stop(drain);
			for (RawHttp client : List.of(used, fresh)) {
				assertThat(this.drained).isNotDone();
				assertIsTheLast(client.send(GET).readUntilClosed(), "0");
			}
			this.drained.join();
		}
	}

	@Test
	void aRequestUnderWayIsAnsweredAndTheLast() {
		Drain drain = new Drain(Duration.ZERO);
		try (GuardedServer server = server(drain); RawHttp client = server.connect(); RawHttp idle = server.connect()) {
			client.send(HELD);
			awaitServed(server, "/held");
			stop(drain);
			// Its time is over: so is that of the other, which has a request.
			idle.awaitClosed();
			assertThat(this.drained).isNotDone();
			server.held.tryEmitEmpty();
			assertIsTheLast(client.readUntilClosed(), "held");
			this.drained.join();
		}
	}

	@Test
	void aBodyOnItsWayIsWaitedFor() {
		Drain drain = new Drain(Duration.ZERO);
		try (GuardedServer server = server(drain); RawHttp client = server.connect(); RawHttp idle = server.connect()) {
			client.send("PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
			awaitServed(server, "/echo");
			stop(drain);
			idle.awaitClosed();
			assertIsTheLast(client.send("cde").readUntilClosed(), "5");
			this.drained.join();
		}
	}

	@Test
	void aConnectionWithoutARequestIsClosedInSilenceWhenItsTimeIsOver() {
		Drain drain = new Drain(GuardedServer.SHORT);
		try (GuardedServer server = server(drain); RawHttp used = server.connect(); RawHttp fresh = server.connect()) {
			assertThat(used.send(GET).read()).isNotNull();
			stop(drain);
			assertThat(used.readUntilClosed()).isEmpty();
			assertThat(fresh.readUntilClosed()).isEmpty();
			this.drained.join();
		}
	}

	@Test
	void whatWasSentAheadIsAnsweredAndOnlyTheLastAnswerSaysSo() {
		Drain drain = new Drain(GuardedServer.LONG);
		try (GuardedServer server = server(drain); RawHttp client = server.connect()) {
			client.send(HELD + GET.repeat(3));
			awaitServed(server, "/held");
			stop(drain);
			server.held.tryEmitEmpty();
			List<Response> responses = client.readUntilClosed();
			assertThat(responses).extracting(Response::body).containsExactly("held", "0", "0", "0");
			assertThat(responses).extracting((it) -> it.header("connection"))
				.containsExactly(null, null, null, "close");
			this.drained.join();
		}
	}

	@Test
	void anAnswerThatHadBegunIsWholeAndThenItsConnectionCloses() {
		Drain drain = new Drain(Duration.ZERO);
		try (GuardedServer server = server(drain); RawHttp client = server.connect(); RawHttp idle = server.connect()) {
			Response head = client.send("GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n").readStatus();
			stop(drain);
			idle.awaitClosed();
			assertThat(client.readBody(head).body()).isEqualTo("one two three ".repeat(1000));
			client.awaitClosed();
			this.drained.join();
		}
	}

	@Test
	void anAnswerThatIsStillOnItsWayWhenItsTimeIsOverIsWholeAndThenItsConnectionCloses() {
		Drain drain = new Drain(Duration.ZERO, GuardedServer.LONG);
		try (GuardedServer server = server(drain);
				RawHttp client = server.connect(1 << 13);
				RawHttp idle = server.connect()) {
			Response head = client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").readStatus();
			stop(drain);
			idle.awaitClosed();
			assertThat(head.header("connection")).isNull();
			assertThat(client.readBody(head).body()).hasSize(GuardedServer.LARGE_BYTES);
			client.awaitClosed();
			this.drained.join();
		}
	}

	@Test
	void noRequestIsLostWhereAllConnectionsAreBusyAtTheStop() {
		Drain drain = new Drain(GuardedServer.LONG);
		try (GuardedServer server = server(drain)) {
			List<CompletableFuture<Boolean>> clients = IntStream.range(0, 16)
				.mapToObj(_ -> server.connect())
				.toList()
				.stream()
				.map(client -> CompletableFuture.supplyAsync(() -> isToldTheEnd(client),
						run -> Thread.ofVirtual().start(run)))
				.toList();
			awaitServed(server, "/echo");
			stop(drain);
			assertThat(clients).allMatch(CompletableFuture::join);
			this.drained.join();
		}
	}

	/** Sends one request after the other; whether each is answered up to a farewell. */
	private static boolean isToldTheEnd(RawHttp client) {
		Response response = client.send(GET).read();
		while (response != null && response.header("connection") == null) {
			response = client.send(GET).read();
		}
		client.close();
		return response != null;
	}

	private static void assertIsTheLast(List<Response> responses, String body) {
		assertThat(responses).extracting(Response::body).containsExactly(body);
		assertThat(responses.getFirst().header("connection")).isEqualTo("close");
	}

	private static void awaitServed(GuardedServer server, String target) {
		while (!server.served.contains(target)) {
			Thread.onSpinWait();
		}
	}

	private void stop(Drain drain) {
		drain.stop(() -> this.drained.complete(null));
	}

	private GuardedServer server(Drain drain) {
		return new GuardedServer(this.answers, GuardedServer.limits((limits) -> {
		}), drain);
	}

}
