package io.kvorum.client;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.kvorum.client.KvorumException.NoAnswer;
import io.kvorum.client.KvorumException.NotEnoughReplicas;
import io.kvorum.client.KvorumException.UnexpectedAnswer;
import io.kvorum.client.KvorumException.ValueTooLarge;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.StepVerifier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@DisplayName("Ranges")
class RangeTests {

	private static final String A = "{\"id\":\"a\",\"version\":\"1\",\"contentType\":\"text/plain\",\"value\":\"QQ==\"}";

	private static final String B = "{\"id\":\"b\",\"version\":\"2\",\"contentType\":\"text/plain\",\"value\":\"Qg==\"}";

	private static final String C = "{\"id\":\"c\",\"version\":\"3\",\"contentType\":\"text/plain\",\"value\":\"Qw==\"}";

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final FakeNode node = new FakeNode();

	private final KvorumClient client = KvorumClient.builder(List.of(this.node.url()))
		.deadline(Duration.ofSeconds(2))
		.build();

	private final Entities<String> texts = this.client.entities(Codec.text());

	@AfterEach
	void close() {
		this.client.close();
		this.node.close();
	}

	private static String end(int count) {
		return "{\"end\":true,\"count\":%d}".formatted(count);
	}

	private List<String> uris() {
		return this.node.got().stream().map(FakeNode.Got::uri).toList();
	}

	@Test
	@DisplayName("all values, in their order")
	void whole() {
		this.node.thenLines(false, A, B, C, end(3));

		StepVerifier.create(this.texts.range(Range.prefix("x/ä").before("y").limit(5)))
			.expectNext(new Entity<>("a", "A", new Version("1"), "text/plain", null, null))
			.expectNext(new Entity<>("b", "B", new Version("2"), "text/plain", null, null))
			.expectNext(new Entity<>("c", "C", new Version("3"), "text/plain", null, null))
			.expectComplete()
			.verify(PATIENCE);
		assertThat(uris()).containsExactly("/v0/entities?values=true&prefix=x%2F%C3%A4&end=y&limit=5");
	}

	@Test
	@DisplayName("a connection that breaks: it goes on behind the last value, each comes once")
	void broken() {
		this.node.thenLines(true, A, B).thenLines(false, B, C, end(2));

		StepVerifier.create(this.texts.range(Range.all().limit(7)).map(Entity::key))
			.expectNext("a", "b", "c")
			.expectComplete()
			.verify(PATIENCE);
		assertThat(uris()).containsExactly("/v0/entities?values=true&limit=7",
				"/v0/entities?values=true&start=b&limit=6");
	}

	@Test
	@DisplayName("a connection that breaks, and the last value is removed meanwhile: not one more than the limit")
	void limited() {
		this.node.thenLines(true, A).thenLines(false, B, C, end(2));

		StepVerifier.create(this.texts.range(Range.all().limit(2)).map(Entity::key))
			.expectNext("a", "b")
			.expectComplete()
			.verify(PATIENCE);
	}

	@Test
	@DisplayName("an answer that ends without its last line is none")
	void cut() {
		this.node.thenLines(false, A);

		StepVerifier.create(this.texts.range(Range.all()).map(Entity::key))
			.expectNext("a")
			.expectErrorSatisfies(error -> assertThat(error).isInstanceOf(NoAnswer.class)
				.hasMessageContaining("has ended a range too early"))
			.verify(PATIENCE);
		assertThat(uris()).hasSizeGreaterThan(1);
	}

	@Test
	@DisplayName("a part that cannot be read: the error of the node, after it was tried again")
	void unreadable() {
		this.node.thenProblem(504, "not-enough-replicas", ",\"retryable\":true");

		StepVerifier.create(this.texts.range(Range.all())).expectError(NotEnoughReplicas.class).verify(PATIENCE);
		assertThat(uris()).hasSizeGreaterThan(1);
	}

	@Test
	@DisplayName("silence ends it, and a subscriber that takes its time does not")
	void silence() {
		KvorumClient hasty = KvorumClient.builder(List.of(this.node.url()))
			.rangeSilence(Duration.ofSeconds(1))
			.maxAttempts(1)
			.build();
		this.node.thenLines(false, A, B, C, end(3)).thenSilence();

		StepVerifier.create(hasty.entities(Codec.text()).range(Range.all()).map(Entity::key), 1)
			.expectNext("a")
			.thenAwait(Duration.ofMillis(2_500))
			.thenRequest(5)
			.expectNext("b", "c")
			.expectComplete()
			.verify(PATIENCE);
		StepVerifier.create(hasty.entities(Codec.text()).range(Range.all()))
			.expectErrorSatisfies(
					error -> assertThat(error).isInstanceOf(NoAnswer.class).hasMessageContaining("no answer in time"))
			.verify(PATIENCE);
		hasty.close();
	}

	/** How long the last silence was allowed to be. */
	private static Duration silenceOf(Throwable error) {
		String message = Objects.requireNonNull(error.getCause()).getMessage();
		return Duration.parse(String.valueOf(message).replaceAll(".* ", ""));
	}

	@Test
	@DisplayName("silence lasts no longer than the deadline, or what is left of it since a failure")
	void silenceBehindTheDeadline() {
		Duration deadline = Duration.ofSeconds(1);
		KvorumClient.Builder builder = KvorumClient.builder(List.of(this.node.url())).deadline(deadline);
		this.node.thenSilence().thenBreak().thenSilence();
		try (KvorumClient once = builder.maxAttempts(1).build(); KvorumClient twice = builder.maxAttempts(2).build()) {
			StepVerifier.create(once.entities().list(Range.all()))
				.expectErrorSatisfies(error -> assertThat(silenceOf(error)).isEqualTo(deadline))
				.verify(PATIENCE);
			StepVerifier.create(twice.entities().list(Range.all()))
				.expectErrorSatisfies(error -> assertThat(silenceOf(error)).isLessThan(deadline))
				.verify(PATIENCE);
		}
	}

	@Test
	@DisplayName("of many parts, each of which breaks behind another value: whole")
	void brokenAgainAndAgain() {
		for (int i = 0; i < 150; i++) {
			this.node.thenLines(false,
					"{\"id\":\"%03d\",\"version\":\"1\",\"contentType\":\"text/plain\",\"value\":\"QQ==\"}"
						.formatted(i));
		}
		this.node.thenLines(false, end(0));

		StepVerifier.create(this.texts.range(Range.all())).expectNextCount(150).expectComplete().verify(PATIENCE);
	}

	@Test
	@DisplayName("goes on at another node when one is silent, before the first line or behind it")
	void silentNode() {
		try (FakeNode silent = new FakeNode();
				KvorumClient both = KvorumClient.builder(List.of(silent.url(), this.node.url()))
					.rangeSilence(Duration.ofMillis(500))
					.build()) {
			silent.thenLinesAndSilence(A);
			this.node.thenLines(false, A, B, end(2));
			// The first node is drawn.
			do {
				StepVerifier.create(both.entities(Codec.text()).range(Range.all()).map(Entity::key))
					.expectNext("a", "b")
					.expectComplete()
					.verify(PATIENCE);
			}
			while (silent.got().isEmpty());
		}
	}

	@Test
	@DisplayName("what is too long, or no JSON, is an error at once, and no fault of the node")
	void unreadableLines() {
		try (KvorumClient small = KvorumClient.builder(List.of(this.node.url())).maxValueSize(3).build()) {
			Entities<String> entities = small.entities(Codec.text());
			this.node.thenLines(false, "x".repeat(20_000)).thenLines(false, "no JSON").thenLines(false, A, end(1));

			StepVerifier.create(entities.range(Range.all())).expectError(ValueTooLarge.class).verify(PATIENCE);
			StepVerifier.create(entities.range(Range.all())).expectError(UnexpectedAnswer.class).verify(PATIENCE);
			StepVerifier.create(entities.range(Range.all())).expectNextCount(1).expectComplete().verify(PATIENCE);
			assertThat(uris()).hasSize(3);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "{}", "{\"id\":\"a\"}", "{\"id\":\"a\",\"version\":\"1\",\"contentType\":\"text/plain\"}",
			"{\"id\":\"a\",\"version\":\"1\",\"contentType\":\"text/plain\",\"value\":\"?\",\"size\":\"?\"}",
			"{\"id\":\"a\",\"version\":\"1\",\"contentType\":\"text/plain\",\"value\":\"\",\"size\":0,\"expires\":\"?\"}" })
	@DisplayName("a line without what an entry has is an answer of something else")
	void unknownLine(String line) {
		this.node.thenLines(false, line, end(1));

		StepVerifier.create(this.texts.range(Range.all())).expectError(UnexpectedAnswer.class).verify(PATIENCE);
		StepVerifier.create(this.texts.list(Range.all())).expectError(UnexpectedAnswer.class).verify(PATIENCE);
	}

	@Test
	@DisplayName("bounds that cannot be sent are refused")
	void bounds() {
		assertThatIllegalArgumentException().isThrownBy(() -> Range.all().before(""));
		StepVerifier.create(this.texts.range(Range.prefix("a\uD83D")))
			.expectError(IllegalArgumentException.class)
			.verify(PATIENCE);
	}

	@Test
	@DisplayName("a listing has folders, and no values")
	void listing() {
		this.node.thenLines(false,
				"{\"id\":\"f/a\",\"version\":\"1\",\"contentType\":\"text/plain\",\"size\":3,\"expires\":\"2030-01-01T00:00:00Z\"}",
				"{\"prefix\":\"f/p/\"}", end(2));

		StepVerifier.create(this.texts.list(Range.prefix("f/").folders("/")))
			.expectNext(new EntityInfo("f/a", false, new Version("1"), "text/plain", 3,
					java.time.Instant.parse("2030-01-01T00:00:00Z")))
			.expectNext(new EntityInfo("f/p/", true, null, null, 0, null))
			.expectComplete()
			.verify(PATIENCE);
		assertThat(uris()).containsExactly("/v0/entities?values=false&prefix=f%2F&separator=%2F");
	}

}
