package io.kvorum.client;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.kvorum.client.KvorumException.AccessDenied;
import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.KvorumException.Contention;
import io.kvorum.client.KvorumException.IdempotencyKeyReused;
import io.kvorum.client.KvorumException.InvalidRequest;
import io.kvorum.client.KvorumException.NoSpace;
import io.kvorum.client.KvorumException.NotEnoughReplicas;
import io.kvorum.client.KvorumException.Overloaded;
import io.kvorum.client.KvorumException.RequestUnderWay;
import io.kvorum.client.KvorumException.UnexpectedAnswer;
import io.kvorum.client.KvorumException.ValueTooLarge;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;

import static org.assertj.core.api.Assertions.assertThat;

/** Each kind of problem in the documentation of the API has its exception. */
class ProblemReaderTests {

	private static final Path DOCUMENT = Path.of("..", "..", "src", "docs", "http-api.md");

	private static final Pattern ROW = Pattern.compile("(?m)^\\| <a id=\"([a-z-]+)\"></a>.*?\\| (\\d{3})");

	private static final URI NODE = URI.create("http://node:8080");

	/** All others are an {@link InvalidRequest}. */
	private static final Map<String, Class<? extends KvorumException>> EXCEPTIONS = Map.ofEntries(
			Map.entry("unauthorized", AccessDenied.class), Map.entry("forbidden", AccessDenied.class),
			Map.entry("request-timeout", Overloaded.class), Map.entry("request-under-way", RequestUnderWay.class),
			Map.entry("precondition-failed", ConditionNotMet.class), Map.entry("value-too-large", ValueTooLarge.class),
			Map.entry("idempotency-key-reused", IdempotencyKeyReused.class),
			Map.entry("too-many-requests", Overloaded.class), Map.entry("internal-error", UnexpectedAnswer.class),
			Map.entry("not-accepted", Overloaded.class), Map.entry("retired", Overloaded.class),
			Map.entry("contention", Contention.class), Map.entry("not-enough-replicas", NotEnoughReplicas.class),
			Map.entry("no-space", NoSpace.class));

	private static List<MatchResult> documented() throws IOException {
		return ROW.matcher(Files.readString(DOCUMENT)).results().toList();
	}

	private static KvorumException read(String name, int status, String more) {
		String body = "{\"type\":\"urn:kvorum:problem:%s\",\"detail\":\"as told\"%s}".formatted(name, more);
		Answer answer = new Answer(new Node(NODE, 0), status, new HttpHeaders(), body.getBytes(StandardCharsets.UTF_8));
		return ProblemReader.read(NODE, answer, Requests.delete("key", WriteOptions.DEFAULTS));
	}

	@Test
	void eachKindThatIsDocumentedHasItsException() throws IOException {
		assertThat(documented()).hasSizeGreaterThan(35).allSatisfy(row -> {
			KvorumException exception = read(row.group(1), Integer.parseInt(row.group(2)), "");
			assertThat(exception).as(row.group(1))
				.isExactlyInstanceOf(EXCEPTIONS.getOrDefault(row.group(1), InvalidRequest.class));
			assertThat(exception.getMessage()).contains("http://node:8080: as told", row.group(1), row.group(2));
		});
		assertThat(documented()).extracting(row -> row.group(1)).containsAll(EXCEPTIONS.keySet());
	}

	/** It has no body that would say so. */
	@Test
	void anAnswerToAHeadSaysByAHeaderThatTheKeysHaveMoved() {
		HttpHeaders headers = new HttpHeaders();
		headers.set("Kvorum-Takeover", "retired");
		Request head = Requests.head("key", ReadOptions.DEFAULTS);
		assertThat(ProblemReader.read(NODE, new Answer(new Node(NODE, 0), 503, headers, new byte[0]), head))
			.isInstanceOfSatisfying(Overloaded.class, ex -> assertThat(ex.isOfRetired()).isTrue());
		assertThat(ProblemReader.read(NODE, new Answer(new Node(NODE, 0), 503, new HttpHeaders(), new byte[0]), head)
			.isOfRetired()).isFalse();
	}

	@Test
	void onlyWhatSaysSoHasCertainlyNotHappened() {
		assertThat(read("not-accepted", 503, ",\"outcome\":\"not-applied\"").outcome()).isEqualTo(Outcome.NOT_APPLIED);
		assertThat(read("not-enough-replicas", 504, ",\"outcome\":\"unknown\"").outcome()).isEqualTo(Outcome.UNKNOWN);
		assertThat(read("not-enough-replicas", 504, "").outcome()).isEqualTo(Outcome.UNKNOWN);
		assertThat(read("of-a-later-release", 503, ",\"outcome\":\"deferred\"").outcome()).isEqualTo(Outcome.UNKNOWN);
		assertThat(read("request-under-way", 409, ",\"outcome\":\"unknown\"").outcome()).as("whatever the status")
			.isEqualTo(Outcome.UNKNOWN);
		assertThat(read("bad-ttl", 400, "").outcome()).as("found before it began").isEqualTo(Outcome.NOT_APPLIED);
	}

}
