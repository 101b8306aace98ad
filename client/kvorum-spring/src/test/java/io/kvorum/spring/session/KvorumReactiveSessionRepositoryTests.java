package io.kvorum.spring.session;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.spring.FakeNode;
import io.kvorum.spring.codec.JsonObjectCodec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@DisplayName("Sessions, at the worst moment")
@Timeout(60)
class KvorumReactiveSessionRepositoryTests {

	/** Several times are longer than the deadline of a save. */
	private static final Duration SOME_TIME = Duration.ofSeconds(4);

	/** Longer than a test: what ends in time is not ended by the client. */
	private static final Duration LONG = Duration.ofMinutes(5);

	private final FakeNode node = new FakeNode();

	private final KvorumClient client = this.node.client().attemptTimeout(LONG).deadline(LONG).build();

	private final AtomicLong nanos = new AtomicLong(System.nanoTime());

	private final KvorumReactiveSessionRepository repository = builder().build();

	@AfterEach
	void close() {
		this.client.close();
		this.node.close();
	}

	private KvorumReactiveSessionRepository.Builder builder() {
		return KvorumReactiveSessionRepository
			.builder(this.client, JsonObjectCodec.of(JsonMapper.shared(), String.class))
			.nanoTime(this.nanos::get);
	}

	private KvorumSession saved() {
		KvorumSession session = Objects.requireNonNull(this.repository.createSession().block());
		session.setAttribute("other", "value");
		save(session);
		return session;
	}

	private KvorumSession found(KvorumSession session) {
		return Objects.requireNonNull(this.repository.findById(session.getId()).block());
	}

	private void save(KvorumSession session) {
		this.repository.save(session).block();
	}

	private Mono<Void> conflictAfter(Duration time, FakeNode.Exchange request) {
		this.nanos.addAndGet(time.toNanos());
		return request.conflict();
	}

	@Test
	@DisplayName("other requests save in between for ever: the save ends in a conflict at its deadline, and did nothing")
	void saveDeadline() {
		KvorumSession session = saved();
		session.setAttribute("attribute", "value");
		this.node
			.always(request -> request.name().startsWith("PUT") ? conflictAfter(SOME_TIME, request) : request.answer());
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> save(session))
			.withMessageContainingAll("saveDeadline", "PT10S")
			.withCauseInstanceOf(KvorumException.ConditionNotMet.class);
		this.node.always(FakeNode.Exchange::answer);
		assertThat(found(session).<String>getAttribute("attribute")).isNull();
	}

	@Test
	@DisplayName("other requests save in between a change of the id for ever: a conflict, and the old id stays")
	void saveDeadlineOfMove() {
		KvorumSession session = saved();
		String before = session.getId();
		session.changeSessionId();
		this.node.always(request -> request.name().equals("DELETE sessions/" + before)
				? conflictAfter(SOME_TIME, request) : request.answer());
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> save(session));
		this.node.always(FakeNode.Exchange::answer);
		assertThat(this.repository.findById(before).block()).isNotNull();
		assertThat(this.repository.findById(session.getId()).block()).isNull();
	}

	@Test
	@DisplayName("a node that does not answer: the save ends at its deadline, not at that of the client")
	void silence() {
		KvorumSession session = saved();
		KvorumReactiveSessionRepository brief = builder().saveDeadline(Duration.ofMillis(200)).build();
		session.setAttribute("attribute", "value");
		this.node.next(request -> Mono.never());
		assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> brief.save(session).block())
			.withMessageContaining("no answer in time");
		assertThatIllegalArgumentException().isThrownBy(() -> builder().saveDeadline(Duration.ZERO));
	}

}
