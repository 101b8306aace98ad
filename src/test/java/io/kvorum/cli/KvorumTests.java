package io.kvorum.cli;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.kvorum.testing.Ports;
import io.kvorum.testing.TestCa;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

/** What the command line asks of a node, and makes of its answers. */
class KvorumTests {

	private static final String CLUSTER = """
			{"layout":{"version":3,"state":"stable","factor":3},"nodes":[
			{"address":"http://a:1","state":"member","version":"1","converged":true,"keys":7,"freeBytes":2048,
			"requests":{"total":9,"perSecond":1.5,"p99Millis":2.5},"hints":0},
			{"address":"http://b:1","state":"%s"}],"unreachable":[%s]}""";

	private static final Map<String, String> WRITTEN = Map.of("ETag", "\"0123\"");

	private static final Map<String, String> RETIRED = Map.of("Kvorum-Takeover", "retired");

	private static final Map<String, String> GATEWAY = Map.of("Kvorum-Takeover", "gateway");

	private final FakeNode node = new FakeNode();

	/** To which keys move. */
	private final FakeNode gateway = new FakeNode();

	private final StringWriter out = new StringWriter();

	private final StringWriter err = new StringWriter();

	KvorumTests() throws IOException {
	}

	@AfterEach
	void stop() {
		this.node.close();
		this.gateway.close();
	}

	private int run(String... arguments) {
		return runAt(this.node.url(), arguments);
	}

	private int runAt(String url, String... arguments) {
		return execute(Stream.concat(Stream.of(arguments), Stream.of("--url", url)).toArray(String[]::new));
	}

	private int execute(String... arguments) {
		CommandLine line = Kvorum.commandLine();
		line.setOut(new PrintWriter(this.out)).setErr(new PrintWriter(this.err, true));
		return line.execute(arguments);
	}

	@Test
	void whomToAskMayBeSaidBeforeTheCommand(@TempDir Path directory) throws IOException {
		Path file = Files.writeString(directory.resolve("key"), "id.secret\n");
		this.node.answers(202, "");

		assertThat(execute("--url", this.node.url(), "--api-key-file", file.toString(), "del", "key")).isZero();
		assertThat(this.node.requests()).containsExactly("DELETE /v0/entity?id=key|Authorization: Bearer id.secret");
	}

	@Test
	void aValueIsWrittenWithAllThatIsSaidOfIt() {
		this.node.answers(201, "", Map.of("ETag", "\"0123\""));

		assertThat(run("put", "a b/ü&", "value", "--ttl", "15m", "--content-type", "text/plain", "--if-absent",
				"--idempotency-key", "once", "--replicas", "2/3"))
			.isZero();
		assertThat(this.node.requests())
			.containsExactly("PUT /v0/entity?id=a+b%2F%C3%BC%26&replicas=2%2F3&ttl=15m|If-None-Match: *"
					+ "|Idempotency-Key: once|Content-Type: text/plain|value");
		assertThat(this.out).hasToString("0123" + System.lineSeparator());
	}

	@Test
	void aWriteCanDependOnAVersion() {
		this.node.answers(202, "");

		assertThat(run("del", "key", "--if-version", "0123")).isZero();
		assertThat(run("del", "key", "--if-version", "\"0123\"")).as("as the header ETag has it").isZero();
		assertThat(this.node.requests()).hasSize(2).containsOnly("DELETE /v0/entity?id=key|If-Match: \"0123\"");
	}

	@Test
	void aDashIsTheStandardInput() {
		this.node.answers(201, "", Map.of("ETag", "\"0123\""));
		InputStream before = System.in;
		try {
			System.setIn(new ByteArrayInputStream("from a pipe".getBytes(StandardCharsets.UTF_8)));
			assertThat(run("put", "key", "-")).isZero();
		}
		finally {
			System.setIn(before);
		}
		assertThat(this.node.requests()).singleElement().asString().endsWith("|from a pipe");
	}

	@Test
	void aNodeThatIsNotThereIsToldInWords() throws IOException {
		int port;
		try (ServerSocket free = new ServerSocket(0)) {
			port = free.getLocalPort();
		}
		assertThat(runAt("http://127.0.0.1:" + port, "get", "key")).isEqualTo(3);
		assertThat(this.err).asString()
			.contains("cannot be reached: nothing answers there")
			.doesNotContain("Exception");
	}

	@Test
	void theVersionIsThatOfTheBuild() {
		assertThat(execute("--version")).isZero();
		assertThat(this.out.toString()).matches("Kvorum [0-9]+\\.[0-9.]+\\S*, API v0\\s+");
	}

	@Test
	void theApiKeyComesFromAFile(@TempDir Path directory) throws IOException {
		Path file = Files.writeString(directory.resolve("key"), "id.secret\n");
		this.node.answers(202, "");

		assertThat(run("del", "key", "--api-key-file", file.toString())).isZero();
		assertThat(this.node.requests()).singleElement().asString().contains("Authorization: Bearer id.secret");
		assertThat(run("del", "key", "--api-key-file", directory.resolve("none").toString())).isEqualTo(2);
		assertThat(this.err).asString().contains("cannot read the API key");
	}

	@ParameterizedTest
	@CsvSource({ "301, '', 2", "400, '', 2", "401, '', 2", "403, '', 2", "404, '', 1", "409, '', 1",
			"409, '\"retryable\":true,\"outcome\":\"unknown\",', 4", "412, '\"outcome\":\"not-applied\",', 1",
			"413, '', 2", "501, '', 2", "422, '', 1", "429, '\"outcome\":\"not-applied\",', 3", "500, '', 4",
			"503, '', 4", "503, '\"outcome\":\"not-applied\",', 3", "504, '\"outcome\":\"unknown\",', 4",
			"504, '\"outcome\":\"not-applied\",', 3", "507, '\"outcome\":\"not-applied\",', 3",
			"507, '\"outcome\":\"unknown\",', 4" })
	void theExitCodeSaysWhatBecameOfAWrite(int status, String outcome, int code) {
		this.node.answers(status, "{%s\"detail\":\"What to do.\"}".formatted(outcome));

		assertThat(run("put", "key", "value")).isEqualTo(code);
		assertThat(this.err).asString().contains("(%d)".formatted(status));
		assertThat(this.node.requests()).as("never repeated at the same node").hasSize(1);
	}

	@ParameterizedTest
	@CsvSource({ "get, 3", "stat, 3", "put, 4", "del, 4" })
	void whatAnswersUnlikeANodeIsNoAnswerToTheRequest(String command, int code, @TempDir Path directory) {
		Path file = directory.resolve("value");
		this.node.isNoNode();
		for (int status : new int[] { 200, 404, 412 }) {
			this.node.answers(status, "<html>", WRITTEN);
			assertThat(run(switch (command) {
				case "get" -> new String[] { command, "key", "-O", file.toString() };
				case "put" -> new String[] { command, "key", "value" };
				default -> new String[] { command, "key" };
			})).as("%d", status).isEqualTo(code);
			assertThat(this.err).asString().contains(" is not a node: it answered %d ".formatted(status));
		}
		assertThat(this.out).asString().isEmpty();
		assertThat(file).doesNotExist();
	}

	@Test
	void aListThatIsNotThereIsNoAnswerOfANode() {
		this.node.isNoNode();
		for (int status : new int[] { 200, 404 }) {
			this.node.answers(status, "{\"end\":true,\"count\":0}\n");
			assertThat(run("ls")).isEqualTo(3);
			assertThat(this.err).asString().contains(" is not a node: it answered ");
		}
	}

	@Test
	void aNodeThatIsNotTrustedIsSentNothing() throws IOException {
		HttpsServer stranger = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		stranger.setHttpsConfigurator(new HttpsConfigurator(
				TestCa.create("cli-stranger", "localhost").bundle("localhost").createSslContext()));
		stranger.start();
		String url = "https://localhost:" + stranger.getAddress().getPort();
		this.node.answers(201, "", WRITTEN);
		try {
			assertThat(runAt(url, "put", "key", "value")).isEqualTo(3);
			assertThat(this.err).asString().contains("cannot be reached").doesNotContain("may have done it");
			assertThat(runAt(url + "," + this.node.url(), "put", "key", "value")).isZero();
		}
		finally {
			stranger.stop(0);
		}
	}

	@Test
	void aFileWithoutASizeIsReadToItsEnd(@TempDir Path directory) throws Exception {
		Path pipe = directory.resolve("pipe");
		assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
		Thread writer = Thread.ofVirtual().start(() -> {
			try {
				Files.writeString(pipe, "value");
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		});
		this.node.answers(201, "", WRITTEN);

		assertThat(run("put", "key", "--file", pipe.toString())).isZero();
		assertThat(this.node.requests()).containsExactly("PUT /v0/entity?id=key|value");
		writer.join();
	}

	@Test
	void whatIsNoFileIsWrongUsage(@TempDir Path directory) {
		assertThat(run("put", "key", "--file", directory.toString())).isEqualTo(2);
		assertThat(this.err).asString().contains("cannot use the file");
		assertThat(this.node.requests()).isEmpty();
	}

	@Test
	void keysAndValuesMayBeginAsFilesDoElsewhere() {
		this.node.answers(201, "", WRITTEN);

		assertThat(run("put", "@key", "@value")).isZero();
		assertThat(this.node.requests()).containsExactly("PUT /v0/entity?id=%40key|@value");
	}

	@Test
	void anApiKeyThatIsNoneIsNotShown(@TempDir Path directory) throws IOException {
		Path file = Files.writeString(directory.resolve("key"), "# my key\nid.verysecret\n");

		assertThat(run("del", "key", "--api-key-file", file.toString())).isEqualTo(2);
		assertThat(this.err).asString().contains("<id>.<secret>").doesNotContain("verysecret");
		assertThat(this.node.requests()).isEmpty();
	}

	@Test
	void aFileThatIsNotThereIsSaidToBeMissing(@TempDir Path directory) {
		assertThat(run("put", "key", "--file", directory.resolve("none").toString())).isEqualTo(2);
		assertThat(run("put", "key", "value", "--file", directory.resolve("none").toString())).isEqualTo(2);
		assertThat(this.err).asString().contains("not from both");
		assertThat(this.node.requests()).isEmpty();
	}

	@Test
	void aFileKeepsItsContentUntilTheValueIsThere(@TempDir Path directory) throws IOException {
		Path file = Files.writeString(directory.resolve("value"), "before");
		Set<PosixFilePermission> secret = PosixFilePermissions.fromString("rw-------");
		Files.setPosixFilePermissions(file, secret);
		this.node.answers(404, "{\"detail\":\"None.\"}");
		assertThat(run("get", "key", "-O", file.toString())).isEqualTo(1);
		assertThat(file).hasContent("before");

		this.node.answers(200, "after");
		assertThat(run("get", "key", "-O", file.toString())).isZero();
		assertThat(file).hasContent("after");
		assertThat(Files.getPosixFilePermissions(file)).isEqualTo(secret);
		assertThat(directory).isDirectoryContaining(file::equals)
			.satisfies(it -> assertThat(it.toFile().list()).hasSize(1));
	}

	@Test
	void aLinkStaysAndItsFileKeepsItsContentUntilTheValueIsThere(@TempDir Path directory) throws IOException {
		Path file = Files.writeString(directory.resolve("value"), "before");
		Path link = Files.createSymbolicLink(directory.resolve("link"), file);
		this.node.answers(200, "after");
		assertThat(run("get", "key", "-O", link.toString())).isZero();
		assertThat(file).hasContent("after");
		assertThat(link).isSymbolicLink();

		this.node.endsNoBody();
		assertThat(run("get", "key", "-O", link.toString(), "--timeout", "1")).isEqualTo(3);
		assertThat(file).hasContent("after");
	}

	@Test
	void whatNobodyTakesIsAFailure() {
		assertThat(statusWhoseOutputFails(new IOException("No space left on device"))).isEqualTo(3);
	}

	@Test
	void anErrorOfTheProgramIsToldInALineAndIsNoAnswer() {
		assertThat(statusWhoseOutputFails(new StackOverflowError("too deep"))).isEqualTo(4);
		assertThat(this.err.toString().lines()).singleElement()
			.asString()
			.contains("StackOverflowError: too deep", "may have been carried out");
	}

	private int statusWhoseOutputFails(Throwable failure) {
		this.node.answers(200, CLUSTER.formatted("member", ""));
		CommandLine line = Kvorum.commandLine();
		line.setOut(new PrintWriter(new Writer() {

			@Override
			public void write(char[] text, int from, int length) throws IOException {
				if (failure instanceof Error error) {
					throw error;
				}
				throw (IOException) failure;
			}

			@Override
			public void flush() {
			}

			@Override
			public void close() {
			}

		})).setErr(new PrintWriter(this.err, true));
		return line.execute("status", "--url", this.node.url());
	}

	@ParameterizedTest
	@ValueSource(strings = { "bestellung-\u00e4", "a b", "", "\u007f" })
	void aNameOfAWriteThatWouldBecomeAnotherOneIsNotSent(String name) {
		assertThat(run("put", "key", "value", "--idempotency-key", name)).isEqualTo(2);
		assertThat(run("del", "key", "--idempotency-key", name)).isEqualTo(2);
		assertThat(run("put", "key", "value", "--idempotency-key", "n".repeat(129))).isEqualTo(2);
		assertThat(this.err).asString().contains("--idempotency-key is 1 to 128 visible ASCII characters");
		assertThat(this.node.requests()).isEmpty();
	}

	@Test
	void aContentTypeIsInAscii() {
		this.node.answers(201, "", WRITTEN);
		assertThat(run("put", "key", "value", "--content-type", "caf\u00e9/x")).isEqualTo(2);
		assertThat(this.err).asString().contains("--content-type has ASCII characters only");
		assertThat(this.node.requests()).isEmpty();
		assertThat(run("put", "key", "value", "--content-type", "text/plain; charset=utf-8")).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "get key -O, 3", "ls, 3", "status, 3", "layout --add http://b:1, 4", "backup --list, 3" })
	void aBodyThatStopsInTheMiddleIsGivenUp(String command, int code, @TempDir Path directory) {
		this.node.answers(200, "{");
		this.node.endsNoBody();
		String[] arguments = (command + (command.endsWith("-O") ? " " + directory.resolve("value") : "")
				+ " --timeout 1")
			.split(" ");
		assertThat(run(arguments)).isEqualTo(code);
		assertThat(this.err).asString().contains("no data for 1 s");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			value = { "status|3", "ls|3",
					"schema --replication {'class':'NetworkTopologyStrategy','dc1':3} --keyspace kvorum|3",
					"put key value|4", "layout --pause|4", "layout|3", "backup|4" })
	void aFullDiskBehindTheStandardOutputIsAFailure(String command, int code) {
		this.node.answersAt("/v0/entity", 201, "", WRITTEN);
		this.node.answersAt("/actuator/layout", 200, "{\"version\":6,\"layout\":5,\"members\":[]}", Map.of());
		this.node.answers(200, command.equals("ls") ? "{\"id\":\"a\"}\n{\"end\":true,\"count\":1}\n"
				: CLUSTER.formatted("member", ""));
		PrintStream before = System.out;
		System.setOut(new PrintStream(new OutputStream() {

			@Override
			public void write(int octet) throws IOException {
				throw new IOException("No space left on device");
			}

		}, true));
		try {
			CommandLine line = Kvorum.commandLine().setErr(new PrintWriter(this.err, true));
			String[] arguments = command.split(" ");
			if (!command.startsWith("schema")) {
				arguments = (command + " --url " + this.node.url()).split(" ");
			}

			assertThat(line.execute(arguments)).isEqualTo(code);
		}
		finally {
			System.setOut(before);
		}
	}

	@Test
	void aBackupIsThatOfTheFirstNodeOrOfNone() throws IOException {
		try (FakeNode next = new FakeNode()) {
			next.answers(200, "{}");
			assertThat(runAt("http://127.0.0.1:%d,%s".formatted(Ports.free(), next.url()), "backup")).isEqualTo(3);
			assertThat(next.requests()).isEmpty();
		}
	}

	@Test
	void aReadThatFailsHasDoneNothing() {
		this.node.answers(504, "{\"detail\":\"Too few.\",\"outcome\":\"not-applied\"}");
		assertThat(run("stat", "key")).isEqualTo(3);
		this.node.answers(500, "no JSON");
		assertThat(run("ls")).isEqualTo(3);
		assertThat(this.err).asString().contains("status 500");
	}

	@Test
	void aNodeThatCannotBeReachedIsPassedOver() {
		this.node.answers(201, "", WRITTEN);

		assertThat(runAt("http://127.0.0.1:%d,%s".formatted(Ports.free(), this.node.url()), "put", "key", "value"))
			.isZero();
		assertThat(this.node.requests()).hasSize(1);
		assertThat(runAt("http://127.0.0.1:" + Ports.free(), "put", "key", "value")).isEqualTo(3);
		assertThat(this.err).asString().contains("cannot be reached");
	}

	@Test
	void aWriteGoesToTheNextNodeOnlyIfTheFirstHasNotDoneIt() throws IOException {
		try (FakeNode next = new FakeNode()) {
			next.answers(201, "", WRITTEN);
			this.node.answers(503, "a proxy");
			assertThat(runAt(this.node.url() + "," + next.url(), "put", "key", "value")).isEqualTo(4);
			assertThat(next.requests()).as("it does not say that nothing was done").isEmpty();

			this.node.answers(503, "{\"detail\":\"Full.\",\"outcome\":\"not-applied\"}");
			assertThat(runAt(this.node.url() + "," + next.url(), "put", "key", "value")).isZero();
			assertThat(next.requests()).hasSize(1);

			this.node.answers(504, "{\"detail\":\"Too few.\",\"outcome\":\"unknown\"}");
			assertThat(runAt(this.node.url() + "," + next.url(), "put", "key", "value")).isEqualTo(4);
			assertThat(next.requests()).hasSize(1);
		}
	}

	@Test
	void keysAreListedByLinesThatDoNothingToATerminal() {
		this.node.answers(200, """
				{"id":"a/1","version":"0123","contentType":"text/plain","size":5}
				{"prefix":"a/b\\u001b[31m/"}
				{"end":true,"count":2}
				""");

		assertThat(run("ls", "a/", "-s", "/", "--limit", "9")).isZero();
		assertThat(this.node.requests()).containsExactly(
				"GET /v0/entities?prefix=a%2F&values=false&separator=%2F&limit=9|Accept: application/x-ndjson");
		assertThat(this.out.toString().lines()).containsExactly("a/1", "a/b·[31m/");
	}

	@Test
	void aListIsReadInPages() {
		String first = "{\"id\":\"a\"}\n".repeat(10_000);
		this.node.answers(200, first + "{\"end\":true,\"count\":10000,\"next\":\"b\"}\n");
		this.node.answersAt("start=b&limit=10000", 200, "{\"id\":\"b\"}\n{\"end\":true,\"count\":1}\n", Map.of());
		this.node.answersAt("start=b&limit=1", 200, "{\"id\":\"b\"}\n{\"end\":true,\"count\":1,\"next\":\"c\"}\n",
				Map.of());

		assertThat(run("ls", "-o", "json")).isZero();
		assertThat(this.node.requests()).hasSize(2);
		assertThat(this.out.toString().lines()).hasSize(10_002)
			.endsWith("{\"id\":\"b\"}", "{\"end\":true,\"count\":10001}");
		assertThat(run("ls", "--limit", "10001", "-o", "json")).isZero();
		assertThat(this.out.toString().lines()).hasSize(20_004)
			.endsWith("{\"end\":true,\"count\":10001,\"next\":\"c\"}");
	}

	@Test
	void aListThatBreaksOffIsAFailure() {
		this.node.answers(200, "{\"id\":\"a/1\",\"version\":\"0123\",\"contentType\":\"text/plain\",\"size\":5}\n");

		assertThat(run("ls")).isEqualTo(3);
		assertThat(run("ls", "-o", "json")).isEqualTo(3);
		assertThat(this.err).asString().contains("the listing is incomplete");
	}

	@Test
	void whatIsNoListIsAFailure() {
		this.node.answers(200, "<html>");

		assertThat(run("ls")).isEqualTo(3);
		assertThat(this.err).asString().contains("is no JSON").doesNotContain("\tat ");
	}

	@Test
	void aClusterWithoutNodesIsNotInOrder() {
		this.node.answers(200, "{\"layout\":{},\"nodes\":[],\"unreachable\":[]}");

		assertThat(run("status")).isEqualTo(1);
	}

	@Test
	void theStatusIsATableOrTheAnswerItself() {
		this.node.answers(200, CLUSTER.formatted("member", ""));

		assertThat(run("status")).isZero();
		assertThat(this.out).asString()
			.containsPattern("http://a:1 +member +1 +yes +7 +2.0 KB +1.5 +2.5 ms +0")
			.contains("Layout 3 is stable; keys have 3 copies.");
		assertThat(run("status", "-o", "json")).isZero();
		assertThat(this.out).asString().contains("\"perSecond\" : 1.5");
	}

	@ParameterizedTest
	@ValueSource(strings = { "away", "quarantine", "joining", "leaving", "outside" })
	void theExitCodeOfTheStatusIsWhetherAllNodesAreMembers(String state) {
		this.node.answers(200, CLUSTER.formatted(state, "{\"address\":\"http://b:1\",\"why\":\"no answer\"}"));

		assertThat(run("status")).isEqualTo(1);
		assertThat(this.out).asString().contains("http://b:1 is away: no answer");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "none",
			textBlock = """
					{} | none
					{"why":"it is new"} | It waits: it is new
					{"paused":true} | It waits: it is paused
					{"step":"open","bytes":2048,"movedBytes":1024,"bytesPerSecond":0,"waitsFor":[]} | Moving, step open: 1.0 KB of 2.0 KB copied, 0 B/s.
					{"step":"closed","bytes":2048,"bytesPerSecond":9,"remainingSeconds":7} | Moving, step closed: 0 B of 2.0 KB copied, 9 B/s, about 7 s left.
					{"waitsFor":["http://a:1"],"why":"it copies"} | It waits: http://a:1, it copies
					""")
	void aChangeUnderWayIsToldInWords(String moving, @Nullable String told) {
		this.node.answers(200, "{\"layout\":5,\"state\":\"moving\",\"factor\":3,\"moving\":%s}".formatted(moving));

		assertThat(run("layout")).isZero();
		assertThat(this.out.toString().lines().skip(3))
			.containsExactlyElementsOf((told != null) ? List.of(told) : List.of());
	}

	@Test
	void aChangeOfTheNodesIsStagedAndThenApplied() {
		this.node.answers(202, """
				{"version":5,"layout":4,"state":"stable","factor":3,"members":[{"address":"http://a:1","weight":1}],
				"staged":{"factor":3,"members":[{"address":"http://b:1","weight":2}],"bytes":2048,
				"moves":{"http://a:1":{"gainsPartitions":0,"givesUpPartitions":9},
				"http://b:1":{"gainsPartitions":9,"givesUpPartitions":0,"bytes":2048}}}}""");

		assertThat(run("layout", "--add", "http://b:1", "--weight", "2", "--remove", "http://a:1")).isZero();
		assertThat(this.node.requests()).containsExactly("POST /actuator/layout|Content-Type: application/json"
				+ "|{\"stage\":{\"add\":[{\"address\":\"http://b:1\",\"weight\":2}],\"remove\":[\"http://a:1\"]}}");
		assertThat(this.out).asString()
			.containsPattern("http://a:1 \\(leaves\\) +1 +-9")
			.containsPattern("http://b:1 \\(new\\) +2 +\\+9 +2.0 KB")
			.contains("kvorum layout --apply 5");
		assertThat(run("layout", "--apply", "5")).isZero();
		assertThat(this.node.requests().getLast()).endsWith("|{\"apply\":5}");
		assertThat(run("layout", "--abort")).isZero();
		assertThat(this.node.requests().getLast()).contains("{\"abort\":true}");
		assertThat(run("layout", "--abort", "7")).isZero();
		assertThat(this.node.requests().getLast()).contains("{\"abort\":7}");
		assertThat(run("layout", "--apply", "5", "--factor", "3")).isEqualTo(2);
	}

	@Test
	void zoneAndWeightAreOfNodesThatAreAdded() {
		assertThat(run("layout", "--zone", "b", "--apply", "7")).isEqualTo(2);
		assertThat(run("layout", "--weight", "2")).isEqualTo(2);
		assertThat(run("layout", "--remove", "http://a:1", "--zone", "b")).isEqualTo(2);
		assertThat(this.err).asString().contains("--add");
		assertThat(this.node.requests()).isEmpty();
	}

	@Test
	void nodesThatComeAndGoAreShownWhileTheyDo() {
		this.node.answers(200, """
				{"version":6,"layout":5,"state":"moving","factor":3,"members":[{"address":"http://a:1","weight":1}],
				"next":{"factor":3,"members":[{"address":"http://b:1","weight":2}]},"moving":{}}""");

		assertThat(run("layout")).isZero();
		assertThat(this.out).asString()
			.containsPattern("http://a:1 \\(leaves\\) +1")
			.containsPattern("http://b:1 \\(new\\) +2")
			.doesNotContain("--apply");
	}

	@Test
	void theSchemaForCassandraIsPrintedForOneKeyspace() {
		String replication = "{'class': 'NetworkTopologyStrategy', 'dc1': 3}";

		assertThat(run("schema", "--keyspace", "shop", "--replication", replication)).isZero();
		assertThat(this.out).asString()
			.contains("KEYSPACE IF NOT EXISTS shop WITH replication = " + replication + ";", "shop.entities")
			.doesNotContain("${");
		assertThat(run("schema")).isEqualTo(2);
		assertThat(run("schema", "--replication", "{}; DROP KEYSPACE shop")).isEqualTo(2);
		assertThat(run("schema", "--keyspace", "a b", "--replication", replication)).isEqualTo(2);
		assertThat(this.node.requests()).isEmpty();
	}

	@Test
	void aMigrationAsksOnlyRetiredNodes(@TempDir Path directory) {
		Path state = directory.resolve("state");
		allAreThere();
		this.gateway.answers(400, "");
		assertThat(migrate(state)).isEqualTo(2);
		assertThat(this.err).asString().contains("takes no keys over", "kvorum.takeover.from");
		assertThat(this.node.requests()).isEmpty();

		this.gateway.answers(400, "", GATEWAY);
		this.node.answers(200, "{\"end\":true,\"count\":0}\n", GATEWAY);
		assertThat(migrate(state)).isEqualTo(2);
		assertThat(this.err).asString().contains("is not retired", "kvorum.api.retired=true");
		assertThat(this.node.requests()).containsExactly("GET /v0/cluster",
				"GET /v0/entities?prefix=&values=false&limit=500|Accept: application/x-ndjson");

		this.node.answers(200, "{\"end\":true,\"count\":0}\n", RETIRED);
		assertThat(migrate(state)).isZero();
		assertThat(this.out).asString().contains("0 keys");
		assertThat(state).doesNotExist();
		assertThat(migrate(state, "--rate", "0")).isEqualTo(2);
		assertThat(migrate(state, "--parallel", "257")).isEqualTo(2);
		assertThat(migrate(state, "--patience", "-1")).isEqualTo(2);
	}

	@Test
	void aMigrationSaysWhichKeyDiffersAndGoesOnWhereItWasEnded(@TempDir Path directory) throws IOException {
		Path state = directory.resolve("state");
		allAreThere();
		this.gateway.answers(200, "other", stored("gateway", "7", "text/plain"));
		this.node.answersAt("/v0/entity", 200, "value", stored("retired", "7", "text/plain"));
		// The page breaks off: nothing is noted as done.
		this.node.answers(200, "{\"id\":\"a\",\"version\":\"7\"}\n", RETIRED);
		assertThat(migrate(state)).isEqualTo(3);
		assertThat(state).doesNotExist();
		assertThat(this.out).asString().contains("different: a");
		assertThat(this.gateway.requests()).extracting(request -> request.split("\\|", 2)[0])
			.containsExactly("HEAD /v0/entity?id=", "HEAD /v0/entity?id=a", "GET /v0/entity?id=a");

		Files.writeString(state, "{\"from\":\"[%s]\",\"to\":\"[%s]\",\"next\":\"b\",\"same\":41,\"different\":1}"
			.formatted(this.node.url(), this.gateway.url()));
		this.node.answers(200, "{\"end\":true,\"count\":0}\n", RETIRED);
		assertThat(migrate(state)).isEqualTo(1);
		assertThat(this.node.requests())
			.anyMatch(it -> it.startsWith("GET /v0/entities?prefix=&values=false&start=b&"));
		assertThat(this.out).asString().contains("42 keys: 41 the same", "1 different");

		Files.writeString(state, "{\"from\":\"[http://other]\"}");
		assertThat(migrate(state)).isEqualTo(2);
		Files.writeString(state, "{\"from\":");
		assertThat(migrate(state)).isEqualTo(2);
		assertThat(this.err).asString().contains("is damaged");
	}

	@Test
	void aValueThatBreaksOffAtAGatewayIsNotCompared(@TempDir Path directory) {
		allAreThere();
		this.gateway.answers(200, "other", stored("gateway", "7", "text/plain"));
		this.gateway.breaksOff();
		this.node.answersAt("/v0/entity", 200, "other", stored("retired", "7", "text/plain"));
		this.node.answers(200, "{\"id\":\"a\",\"version\":\"7\"}\n{\"end\":true,\"count\":1}\n", RETIRED);

		assertThat(migrate(directory.resolve("state"), "--patience", "0")).isEqualTo(3);
		assertThat(this.out).asString().contains("not taken over: a: ", "0 different, 1 not");
		assertThat(this.err).asString().doesNotContain("\tat ");
	}

	@Test
	void aMigrationGoesOnBehindAKeyThatCannotBeTakenOver(@TempDir Path directory) {
		allAreThere();
		this.gateway.answers(401, "");
		assertThat(migrate(directory.resolve("key"))).isEqualTo(2);
		assertThat(this.err).asString().contains("refuses the request (401)");

		this.gateway.answers(400, "", GATEWAY);
		this.node.answers(200, "{\"id\":\"a\",\"version\":\"7\"}\n{\"end\":true,\"count\":1}\n", RETIRED);
		assertThat(migrate(directory.resolve("denied"))).as("no fault of the key").isEqualTo(2);

		this.gateway.answers(503, "{\"outcome\":\"not-applied\"}", GATEWAY);
		assertThat(migrate(directory.resolve("one"), "--patience", "0")).isEqualTo(3);
		assertThat(this.out).asString()
			.contains("not taken over: a: ",
					"1 keys: 0 the same, 0 written since, 0 removed or expired since, 0 different, 1 not");

		this.node.answers(200,
				"{\"id\":\"a\",\"version\":\"7\"}\n".repeat(51) + "{\"end\":true,\"count\":51,\"next\":\"b\"}\n",
				RETIRED);
		Path state = directory.resolve("many");
		assertThat(migrate(state, "--patience", "0")).as("no fault of the keys").isEqualTo(3);
		assertThat(this.err).asString().contains("more than 50 keys in a row could not be taken over");
		assertThat(state).doesNotExist();
	}

	private void allAreThere() {
		this.node.answersAt("/v0/cluster", 200,
				"{\"nodes\":[{\"address\":\"http://a:1\",\"state\":\"member\",\"retired\":true}]}", Map.of());
	}

	private static Map<String, String> stored(String takeover, String version, String contentType) {
		return Map.of("Kvorum-Takeover", takeover, "ETag", "\"" + version + "\"", "Content-Type", contentType);
	}

	@ParameterizedTest
	@CsvSource({ "7, text/plain, value, 0, 1 the same", "7, text/plain, other, 1, 1 different",
			"7, text/plain, values, 1, 1 different", "7, text/html, value, 1, 1 different",
			"8, text/plain, other, 0, 1 written since", "6, text/plain, value, 1, 1 different" })
	void aMigrationComparesVersionTypeAndValue(String version, String contentType, String value, int code, String told,
			@TempDir Path directory) {
		allAreThere();
		this.gateway.answers(200, value, stored("gateway", version, contentType));
		this.node.answersAt("/v0/entity", 200, "value", stored("retired", "7", "text/plain"));
		this.node.answers(200, "{\"id\":\"a\",\"version\":\"7\"}\n{\"end\":true,\"count\":1}\n", RETIRED);

		assertThat(migrate(directory.resolve("state"))).isEqualTo(code);
		assertThat(this.out).asString().contains(told);
	}

	@ParameterizedTest
	@CsvSource({ "200, ", "404, ", "404, none" })
	void aMigrationTakesNoAnswerThatIsOfNoGateway(int status, @Nullable String takeover, @TempDir Path directory) {
		allAreThere();
		this.node.answers(200, "{\"id\":\"a\",\"version\":\"7\"}\n{\"end\":true,\"count\":1}\n", RETIRED);
		this.gateway.answers(400, "", GATEWAY);
		this.gateway.answersAt("id=a", status, "", (takeover != null) ? Map.of("Kvorum-Takeover", takeover) : Map.of());

		assertThat(migrate(directory.resolve("state"))).isEqualTo(3);
		assertThat(this.err).asString().contains(this.gateway.url() + " is not a gateway with kvorum.takeover.from");
	}

	@Test
	void aKeyThatIsGoneIsThatByTheWordOfAGateway(@TempDir Path directory) {
		allAreThere();
		this.node.answers(200, "{\"id\":\"a\",\"version\":\"7\"}\n{\"end\":true,\"count\":1}\n", RETIRED);
		this.gateway.answers(404, "", GATEWAY);

		assertThat(migrate(directory.resolve("state"))).isZero();
		assertThat(this.out).asString().contains("removed or expired since: a", "1 removed or expired since");
	}

	@Test
	void keysThatAreAllGoneAreNoSuccess(@TempDir Path directory) {
		allAreThere();
		this.node.answers(200, "{\"id\":\"a\",\"version\":\"7\"}\n".repeat(51) + "{\"end\":true,\"count\":51}\n",
				RETIRED);
		this.gateway.answers(404, "", GATEWAY);

		assertThat(migrate(directory.resolve("state"))).isEqualTo(1);
		assertThat(this.err).asString().contains("more than 50 keys in a row are missing at the gateways", "--gone");
		assertThat(migrate(directory.resolve("state"), "--gone", "51")).isZero();
	}

	@Test
	void aMigrationDoesNotBeginWhileANodeServesClients(@TempDir Path directory) {
		this.node.answersAt("/v0/cluster", 200, CLUSTER.formatted("member", ""), Map.of());
		this.gateway.answers(400, "", GATEWAY);

		assertThat(migrate(directory.resolve("state"))).isEqualTo(2);
		assertThat(this.err).asString().contains("is not retired", "kvorum.api.retired=true");
		assertThat(this.node.requests()).containsExactly("GET /v0/cluster");
	}

	@Test
	void aMigrationIsNotWholeWhileANodeIsAway(@TempDir Path directory) throws IOException {
		Path state = directory.resolve("state");
		this.gateway.answers(404, "", GATEWAY);
		this.node.answers(200, "{\"end\":true,\"count\":0}\n", RETIRED);
		this.node.answersAt("/v0/cluster", 200,
				CLUSTER.formatted("away", "").replace("member\"", "member\",\"retired\":true"), Map.of());
		assertThat(migrate(state)).isEqualTo(3);
		assertThat(this.out).asString().contains("The comparison is incomplete: http://b:1 was away");

		allAreThere();
		assertThat(migrate(state)).isZero();
		Files.writeString(state, "{\"from\":\"[%s]\",\"to\":\"[%s]\",\"next\":\"b\",\"away\":[\"http://c:1\"]}"
			.formatted(this.node.url(), this.gateway.url()));
		assertThat(migrate(state)).as("before it was ended").isEqualTo(3);
		assertThat(this.out).asString().contains("The comparison is incomplete: http://c:1 was away");
	}

	@Test
	void aRateMakesUpForNoLongDelay() {
		long second = 1_000_000_000;
		assertThat(MigrateCommand.due(5 * second, 4 * second)).isEqualTo(5 * second);
		assertThat(MigrateCommand.due(5 * second, 5 * second + 1)).isEqualTo(5 * second);
		assertThat(MigrateCommand.due(5 * second, 9 * second)).isBetween(8 * second, 9 * second);
		assertThat(MigrateCommand.due(Long.MAX_VALUE, Long.MIN_VALUE)).as("of a clock that wraps")
			.isEqualTo(Long.MAX_VALUE);
	}

	private int migrate(Path state, String... more) {
		List<String> command = new ArrayList<>(
				List.of("migrate", "--from", this.node.url(), "--to", this.gateway.url(), "--state", state.toString()));
		command.addAll(List.of(more));
		return run(command.toArray(String[]::new));
	}

	@Test
	void nodesThatACommandNamesAreAskedWhateverTheEnvironmentHas() {
		Map<String, String> environment = Map.of("KVORUM_MANAGEMENT_URL", this.gateway.url());
		for (List<String> command : List.of(List.of("repair"), List.of("repair", "--url", this.node.url()))) {
			CommandLine line = Kvorum.commandLine(environment);
			line.setOut(new PrintWriter(this.out)).setErr(new PrintWriter(this.err, true));
			line.execute(command.toArray(String[]::new));
		}
		assertThat(this.gateway.requests()).hasSize(1);
		assertThat(this.node.requests()).hasSize(1);
	}

	@ParameterizedTest
	@CsvSource({ "404, {}", "200, {}", "200, <html>" })
	void whatKnowsNoNodesIsNoNode(int status, String body) {
		this.node.answers(status, body);

		assertThat(run("status")).isEqualTo(3);
	}

	@Test
	void anEndpointThatIsNotExposedIsNamed() {
		this.node.answers(404, "{\"detail\":\"No such endpoint.\"}");

		for (String[] command : new String[][] { { "where", "key" }, { "backup" }, { "repair" }, { "layout" } }) {
			assertThat(run(command)).isEqualTo(2);
		}
		assertThat(this.err).asString()
			.contains("'topology' is not exposed", "'backup' is not", "'convergence' is not", "'layout' is not");
	}

	@Test
	void aShortBenchShowsBothKindsOfRequests() {
		this.node.answers(201, "");

		assertThat(run("bench", "--seconds", "1", "--connections", "2")).isZero();
		assertThat(this.out.toString().lines().skip(1)).hasSize(2)
			.allSatisfy(line -> assertThat(line).matches("(reads|writes) .* ms +0"));
		assertThat(this.node.requests())
			.anyMatch(it -> it.startsWith("PUT /v0/entity?id=bench%2F") && it.contains("&ttl=1h"));
		this.node.answers(503, "");
		assertThat(run("bench", "--seconds", "1", "--connections", "2")).isEqualTo(1);
		assertThat(run("bench", "--connections", "0")).isEqualTo(2);
	}

	@Test
	void aBenchReadsKeysThatAreNotThereAndWritesToWhereThereAreNoKeysFail() {
		this.node.answers(404, "");

		assertThat(run("bench", "--seconds", "1", "--connections", "2", "--reads", "100")).isZero();
		assertThat(run("bench", "--seconds", "1", "--connections", "2", "--reads", "0")).isEqualTo(1);
		assertThat(this.out).asString().contains("A request failed: status 404");
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 404 })
	void aBenchTakesNoOtherServerForANode(int status) {
		this.node.isNoNode();
		this.node.answers(status, "");

		assertThat(run("bench", "--seconds", "1", "--connections", "2", "--reads", "100")).isEqualTo(1);
		assertThat(this.out.toString().lines().skip(1)).first().asString().matches("reads +0 .*");
		assertThat(this.out).asString().contains(" is not a node: it answered ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "localhost:8080", "ftp://localhost", "/tmp" })
	void whatIsNoUrlIsSaidToBeNone(String url) {
		assertThat(runAt(url, "get", "key")).isEqualTo(2);
		assertThat(this.err).asString().contains("is no URL of a node");
	}

	@Test
	void wrongUsageIsTwo() {
		assertThat(run("put")).isEqualTo(2);
		assertThat(run("nothing")).isEqualTo(2);
		assertThat(this.err).asString().contains("Missing required parameter: '<key>'");
	}

}
