package io.kvorum.api;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.kvorum.access.AccessControl;
import io.kvorum.access.KeysFile;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.replication.OperationFailures;
import io.kvorum.testing.ApiKeys;
import io.kvorum.testing.ConditionalStore;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.SteeredTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.netty.DisposableServer;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** Requests with conditions, to a store that keeps them. */
class ConditionsTests {

	private static final String DATE = "If-Unmodified-Since: Sat, 21 Nov 2026 06:25:16 GMT";

	private static final String NEVER_GIVEN = "\"00000000000000000000000000000001\"";

	private final ConditionalStore store = new ConditionalStore();

	private final SteeredTime time = new SteeredTime();

	private final DisposableServer server = serve(AccessControl.off(this.time));

	private final RawHttp connection = RawHttp.connect(this.server.port());

	private DisposableServer serve(AccessControl access) {
		return EntityServer.serve(this.store, access, EntityServer.MAX_VALUE_BYTES, this.time, (_, _, _) -> {
		}, (_, _) -> null);
	}

	@AfterEach
	void close() {
		this.connection.close();
		this.server.disposeNow();
	}

	private Response send(String method, String target, String... headers) {
		String body = method.equals("PUT") ? "value" : "";
		return answer(this.connection, "%s /v0/entity?id=%s HTTP/1.1\r\nHost: a\r\n%s%s\r\n%s".formatted(method, target,
				lines(headers), body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n", body));
	}

	private static String lines(String... headers) {
		return headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
	}

	private static Response answer(RawHttp connection, String request) {
		List<Response> answers = connection.exchange(request);
		assertThat(answers).hasSize(1);
		return answers.getFirst();
	}

	private String put(String key) {
		Response put = send("PUT", key);
		assertThat(put.status()).isEqualTo(201);
		return etag(put);
	}

	private static String etag(Response answer) {
		String etag = answer.header("ETag");
		assertThat(etag).matches("\"[0-9a-f]{32}\"");
		return (etag != null) ? etag : "";
	}

	private static Map<String, Object> problem(Response answer, int status, String type) {
		assertThat(answer.status()).isEqualTo(status);
		assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
		Map<String, Object> problem = new JsonMapper().readValue(answer.body(), new TypeReference<>() {
		});
		assertThat(problem).containsEntry("type", "urn:kvorum:problem:" + type).containsEntry("status", status);
		return problem;
	}

	private static String detail(Map<String, Object> problem) {
		return String.valueOf(problem.get("detail"));
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '\'', delimiter = ';', textBlock = """
			PUT;    If-Match: E;                                201
			PUT;    If-Match: *;                                201
			PUT;    If-Match: "x", E;                           201
			PUT;    If-Match: "x"|If-Match: E;                  201
			PUT;    if-match:E;                                 201
			PUT;    If-Match: W/E;                              412
			PUT;    If-Match: "x";                              412
			PUT;    If-Match: "x"|If-Match: W/E;                412
			PUT;    If-None-Match: *;                           412
			PUT;    If-None-Match: E;                           412
			PUT;    If-None-Match: W/E;                         412
			PUT;    If-None-Match: "x"|If-None-Match: E;        412
			PUT;    If-None-Match: "x";                         201
			PUT;    If-Match: E|If-None-Match: "x";             201
			PUT;    If-Match: E|If-None-Match: E;               412
			PUT;    If-Match: "x"|If-None-Match: "y";           412
			PUT;    If-Match: *|If-None-Match: *;               412
			DELETE; If-Match: E;                                202
			DELETE; If-Match: *;                                202
			DELETE; If-Match: "x";                              412
			DELETE; If-None-Match: "x";                         202
			DELETE; If-None-Match: *;                           412
			DELETE; If-Match: W/E;                              412
			""")
	void aWriteOfAValueHappensIfItsConditionHolds(String method, String headers, int status) {
		String etag = put("key");
		Response answer = send(method, "key", headers.replace("E", etag).split("\\|"));

		assertThat(answer.status()).isEqualTo(status);
		assertThat(answer.header("Kvorum-Consistency")).isEqualTo("linearizable");
		if (status == 412) {
			assertThat(answer.header("ETag")).isEqualTo(etag);
			assertThat(etag(send("GET", "key"))).isEqualTo(etag);
		}
		else {
			assertThat(etag(answer)).isNotEqualTo(etag);
		}
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '\'', delimiter = ';', textBlock = """
			PUT;    If-None-Match: *;                   201
			PUT;    If-None-Match: "x";                 201
			PUT;    If-Match: *;                        412
			PUT;    If-Match: "x";                      412
			PUT;    If-Match: *|If-None-Match: *;       412
			DELETE; If-None-Match: *;                   202
			DELETE; If-Match: *;                        412
			DELETE; If-Match: "x";                      412
			""")
	void aWriteOfAnAbsentKeyHappensIfItsConditionHoldsForNoValue(String method, String headers, int status) {
		String gone = etag(send("DELETE", "key"));
		Response answer = send(method, "key", headers.replace("\"x\"", gone).split("\\|"));

		assertThat(answer.status()).isEqualTo(status);
		assertThat(send("GET", "key").status()).isEqualTo(status == 201 ? 200 : 404);
		if (status == 412) {
			assertThat(answer.headers()).doesNotContainKey("ETag");
			assertThat(problem(answer, 412, "precondition-failed")).containsEntry("current", null);
		}
	}

	@Test
	void ofTwoThatHaveReadTheSameValueOneWritesIt() {
		String read = put("key");

		Response first = send("PUT", "key", "If-Match: " + read);
		assertThat(first.status()).isEqualTo(201);
		Response second = send("PUT", "key", "If-Match: " + read);
		assertThat(second.status()).isEqualTo(412);
		assertThat(send("PUT", "key", "If-Match: " + etag(second)).status()).isEqualTo(201);
	}

	@Test
	void theProblemOfAConditionThatDoesNotHoldHasTheCurrentEtagAndSaysWhatToDo() {
		String etag = put("key");
		Response answer = send("PUT", "key", "If-Match: " + NEVER_GIVEN);

		Map<String, Object> problem = problem(answer, 412, "precondition-failed");
		assertThat(problem.keySet()).containsExactlyInAnyOrder("type", "title", "status", "detail", "outcome",
				"retryable", "current");
		assertThat(problem).containsEntry("outcome", "not-applied")
			.containsEntry("retryable", false)
			.containsEntry("current", etag);
		assertThat(detail(problem)).contains(etag, "Nothing was done", "Read the value");
		assertThat(answer.headers()).doesNotContainKey("Retry-After");
	}

	@Test
	void whatTheStoreIsGivenIsTheConditionAsItWasSent() {
		send("PUT", "key");
		send("PUT", "key", "If-None-Match: *");
		send("DELETE", "key", "If-Match: W/\"x\", " + NEVER_GIVEN, "If-None-Match: W/" + NEVER_GIVEN + ", \"x\"");

		Tags tags = new Tags(false, Set.of(new Version(0, 1)));
		assertThat(this.store.conditions()).containsExactly(Condition.NONE, new Condition(null, Tags.ANY),
				new Condition(tags, tags));
	}

	@ParameterizedTest
	@ValueSource(strings = { "If-Match: x", "If-Match:", "If-None-Match: *, \"x\"", "If-None-Match: \"x\" \"y\"",
			"If-Match: \"x\"\r\nIf-None-Match: y" })
	void aConditionThatCannotBeReadIsRefusedBeforeTheBodyIsRead(String headers) {
		assertRefusedBeforeTheBody("key", headers, "bad-condition");
		assertThat(detail(problem(send("DELETE", "key", headers), 400, "bad-condition"))).contains("Nothing was done");
	}

	@ParameterizedTest
	@ValueSource(strings = { "replicas=1/1", "replicas=1/3", "replicas=2/2", "ack=1&from=2" })
	void aConditionWithLessThanAMajorityIsRefusedBeforeTheBodyIsRead(String level) {
		assertRefusedBeforeTheBody("key&" + level, "If-None-Match: *", "condition-needs-majority");
		assertThat(detail(problem(send("DELETE", "key&" + level, "If-Match: *"), 400, "condition-needs-majority")))
			.contains("at least 2/3", "Nothing was done");
		assertThat(send("PUT", "key&" + level).status()).isEqualTo(201);
	}

	@ParameterizedTest
	@ValueSource(strings = { "replicas=2/3", "replicas=3/3", "ack=2&from=3" })
	void aConditionIsKeptByAnyMajority(String level) {
		assertThat(send("PUT", "key&" + level, "If-None-Match: *").status()).isEqualTo(201);
		assertThat(send("PUT", "key&" + level, "If-None-Match: *").status()).isEqualTo(412);
	}

	/** A client that expects it is not told to go on. */
	private void assertRefusedBeforeTheBody(String target, String headers, String type) {
		try (RawHttp client = RawHttp.connect(this.server.port())) {
			Response answer = answer(client,
					"PUT /v0/entity?id=%s HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n%s\r\n"
						.formatted(target, lines(headers)));
			problem(answer, 400, type);
		}
		assertThat(this.store.conditions()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET", "HEAD", "PUT", "DELETE" })
	void aConditionByDateIsRefusedAndTheOneByEtagIsNamed(String method) {
		String etag = put("key");
		String head = "%s /v0/entity?id=key HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n".formatted(method, DATE);
		if (method.equals("HEAD")) {
			try (RawHttp client = RawHttp.connect(this.server.port())) {
				assertThat(client.send(head).readStatus().status()).isEqualTo(501);
			}
		}
		else {
			Map<String, Object> problem = problem(answer(this.connection, head), 501, "header-not-supported");
			assertThat(problem).containsEntry("outcome", "not-applied").containsEntry("retryable", false);
			assertThat(detail(problem)).contains("If-Unmodified-Since", "If-Match", "whole seconds");
		}
		assertThat(etag(send("GET", "key"))).isEqualTo(etag);
	}

	/** RFC 9110, section 13.1.4. */
	@Test
	void aConditionByDateIsIgnoredBesideOneByEtag() {
		String etag = put("key");

		assertThat(send("GET", "key", "If-Match: " + etag, DATE).status()).isEqualTo(200);
		assertThat(send("PUT", "key", DATE, "If-Match: " + NEVER_GIVEN).status()).isEqualTo(412);
		assertThat(send("PUT", "key", DATE, "If-Match: " + etag).status()).isEqualTo(201);
	}

	@Test
	void ifModifiedSinceIsNoConditionOfAWrite() {
		assertThat(send("PUT", "key", "If-Modified-Since: Sat, 21 Nov 2099 06:25:16 GMT").status()).isEqualTo(201);
		assertThat(this.store.conditions()).containsExactly(Condition.NONE);
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '\'', delimiter = ';', textBlock = """
			If-Match: E;                                200
			If-Match: *;                                200
			If-Match: "x", E;                           200
			If-Match: W/E;                              412
			If-Match: "x";                              412
			If-None-Match: E;                           304
			If-None-Match: W/E;                         304
			If-None-Match: *;                           304
			If-None-Match: "x"|If-None-Match: E;        304
			If-None-Match: "x";                         200
			If-None-Match: E-;                          200
			If-None-Match: "E;                          200
			If-None-Match: x;                           200
			If-None-Match: ;                            200
			If-None-Match: *, E;                        200
			If-Match: E|If-None-Match: E;               304
			If-Match: "x"|If-None-Match: E;             412
			If-Match: E|If-None-Match: "x";             200
			If-Match: x;                                400
			If-Match: ;                                 400
			""")
	void aReadIsAnsweredAsItsConditionsDemand(String headers, int status) {
		String etag = put("key");
		String[] lines = headers.replace("E", etag).split("\\|");
		for (String level : new String[] { "key", "key&replicas=1/1" }) {
			Response answer = send("GET", level, lines);
			assertThat(answer.status()).isEqualTo(status);
			try (RawHttp client = RawHttp.connect(this.server.port())) {
				client.send("HEAD /v0/entity?id=%s HTTP/1.1\r\nHost: a\r\n%s\r\n".formatted(level, lines(lines)));
				assertThat(client.readStatus().status()).isEqualTo(status);
			}
			if (status != 400) {
				assertThat(answer.header("ETag")).isEqualTo(etag);
				assertThat(answer.header("Kvorum-Consistency"))
					.isEqualTo(level.equals("key") ? "linearizable" : "eventual");
			}
			if (status == 412) {
				assertThat(problem(answer, 412, "precondition-failed")).containsEntry("current", etag);
			}
		}
	}

	/** RFC 9110, section 13.2.1: what is not 2xx without conditions is not 412 either. */
	@ParameterizedTest
	@ValueSource(strings = { "If-Match: *", "If-Match: \"x\"", "If-None-Match: *" })
	void aReadOfAnAbsentKeyHasNoConditions(String header) {
		assertThat(send("GET", "key", header).status()).isEqualTo(404);
	}

	@Test
	void theEtagAndTheDateAreThoseOfTheWriteAndNotOfItsBallot() {
		String written = put("key");
		Response read = send("GET", "key");

		assertThat(etag(read)).isEqualTo(written);
		assertThat(read.header("Last-Modified")).isEqualTo("Fri, 15 Jan 2027 08:00:00 GMT");
	}

	@Test
	void aWriteWhosePlaceCannotBeToldIsNotSaidToLackReplicas() {
		this.store.failWrites(new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, "others came in between", 2, 0,
				true, true, List.of()));

		String detail = detail(problem(send("PUT", "key", "If-None-Match: *"), 504, "not-enough-replicas"));

		assertThat(detail).startsWith("Other writes of this id came in between").doesNotContain("0 of the 2");
	}

	@Test
	void contentionIsAnsweredWithWhenToTryAgain() {
		this.store
			.failWrites(new OperationFailedException(Kind.CONTENTION, "contention", 2, 1, false, true, List.of()));
		Response answer = send("PUT", "key", "If-None-Match: *");

		assertThat(answer.header("Retry-After")).isEqualTo("1");
		Map<String, Object> problem = problem(answer, 503, "contention");
		assertThat(problem).containsEntry("outcome", "not-applied")
			.containsEntry("retryable", true)
			.containsEntry("required", 2)
			.containsEntry("acknowledged", 1);
		assertThat(detail(problem)).contains("conditional writes", "Nothing was done", "Try again");
	}

	@Test
	void aConditionalWriteWhoseFateIsUnknownIsNoPreconditionThatFailed() {
		this.store
			.failWrites(new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, "too few", 2, 1, true, true, List.of()));

		assertThat(problem(send("DELETE", "key", "If-Match: *"), 504, "not-enough-replicas")).containsEntry("outcome",
				"unknown");
	}

	@Test
	void aRequestThatIsUnderWayIsAnsweredWithWhenToAskAgain() {
		this.store.failWrites(OperationFailures.ofUnderWay(2));
		Response answer = send("PUT", "key", "Idempotency-Key: name");

		assertThat(answer.header("Retry-After")).isEqualTo("1");
		assertThat(problem(answer, 409, "request-under-way")).containsEntry("outcome", "unknown")
			.containsEntry("retryable", true);
	}

	@Test
	void anIdempotencyKeyCountsAsItIsAndBelongsToItsCaller() {
		send("PUT", "key", "Idempotency-Key: \"name\"");
		assertThat(this.store.options().getLast().idempotencyKey()).isEqualTo(new IdempotencyKey("anyone", "\"name\""));
		send("PUT", "key", "Accept: */*");
		assertThat(this.store.options().getLast().idempotencyKey()).isNull();
	}

	/** The factor of the cluster changes while a body is on its way. */
	@ParameterizedTest
	@CsvSource({ "If-None-Match: *, condition-needs-majority", "Kvorum-Consistency: linearizable, bad-replicas" })
	void aWriteThatIsNoMoreLinearizableWhenItsBodyHasComeIsRefused(String header, String type) {
		this.connection.send("PUT /v0/entity?id=key&replicas=2/3 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
				+ "Content-Length: 5\r\n%s\r\n\r\n".formatted(header));
		assertThat(this.connection.readStatus().status()).isEqualTo(100);
		this.store.policy(new ReplicationPolicy(5, 5));

		assertThat(detail(problem(answer(this.connection, "value"), 400, type))).contains("3/5");
		assertThat(this.store.options()).isEmpty();
	}

	@Test
	void anAnswerPromisesWhatTheFactorOfItsBeginningAndOfItsEndDo() {
		for (String numbers : new String[] { "2/3", "3/5" }) {
			this.store.policy(new ReplicationPolicy(5, 3));
			this.store.beforeNextWrite(() -> this.store.policy(new ReplicationPolicy(5, 5)));

			assertThat(send("PUT", "key&replicas=" + numbers).header("Kvorum-Consistency")).isEqualTo("eventual");
		}
		assertThat(send("PUT", "key&replicas=3/5").header("Kvorum-Consistency")).isEqualTo("linearizable");
	}

	@Test
	void twoIdempotencyKeysAreRefused() {
		Response answer = send("DELETE", "key", "Idempotency-Key: one\r\nIdempotency-Key: two");

		assertThat(detail(problem(answer, 400, "bad-idempotency-key"))).contains("more than once", "Nothing was done");
		assertThat(this.store.options()).isEmpty();
	}

	/** Without the right to read, a caller does not learn what is stored. */
	@ParameterizedTest
	@CsvSource(quoteCharacter = '\'', delimiter = ';', textBlock = """
			PUT;    write;             403
			DELETE; delete;            403
			PUT;    write,delete;      403
			PUT;    read;              403
			PUT;    write,read;        201
			DELETE; delete,read;       202
			""")
	void aConditionNeedsTheRightToRead(String method, String rights, int status) {
		String etag = put("key");
		int writes = this.store.conditions().size();
		String rules = "\"rules\":[{\"prefix\":\"\",\"rights\":[\"%s\"]}]".formatted(rights.replace(",", "\",\""));
		AccessControl access = AccessControl
			.by(KeysFile.read(ApiKeys.content(ApiKeys.entry("key", rules)), this.time.nanos()), this.time);
		DisposableServer guarded = serve(access);
		try (RawHttp client = RawHttp.connect(guarded.port())) {
			for (String condition : new String[] { "If-None-Match: *", "If-None-Match: \"x\"", "If-Match: \"x\"",
					"If-Match: " + etag }) {
				Response answer = answer(client,
						"%s /v0/entity?id=key HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\nContent-Length: 0\r\n%s\r\n\r\n"
							.formatted(method, ApiKeys.bearer("key"), condition));
				if (status == 403) {
					assertThat(detail(problem(answer, 403, "forbidden")))
						.contains("A condition needs the right 'read'");
					assertThat(answer.headers()).doesNotContainKey("ETag");
					assertThat(answer.body()).doesNotContain(etag);
				}
				else {
					assertThat(answer.status()).isIn(status, 412);
				}
			}
		}
		finally {
			guarded.disposeNow();
		}
		assertThat(this.store.conditions()).hasSize((status == 403) ? writes : writes + 4);
	}

}
