package io.kvorum.spring.session;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.spring.FakeNode;
import io.kvorum.spring.UnlinkedCodec;
import io.kvorum.spring.codec.JsonObjectCodec;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

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
	@DisplayName("a change of the id whose answer is lost: the next save completes it")
	void unknownMove() {
		KvorumSession session = saved();
		String before = session.getId();
		session.changeSessionId();
		session.setAttribute("attribute", "value");
		this.node.next(FakeNode.Exchange::loseAnswer);
		assertSaveFails(session);
		session.setAttribute("more", "value");
		save(session);
		assertThat(stored(session, "attribute")).isEqualTo("value");
		assertThat(stored(session, "more")).isEqualTo("value");
		assertThat(stored(session, "other")).isEqualTo("value");
		assertThat(this.repository.findById(before).block()).isNull();
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

	/** Another request. */
	private void set(KvorumSession session, String attribute, @Nullable String value) {
		KvorumSession other = found(session);
		other.setAttribute(attribute, value);
		save(other);
	}

	private @Nullable String stored(KvorumSession session, String attribute) {
		return found(session).getAttribute(attribute);
	}

	private void assertSaveFails(KvorumSession session) {
		assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> save(session));
	}

	@Test
	@DisplayName("what a failed save has not stored is stored by the next one")
	void failedSave() {
		KvorumSession session = saved();
		session.setAttribute("attribute", "value");
		session.setMaxInactiveInterval(Duration.ofHours(2));
		this.node.next(FakeNode.Exchange::refuse);
		assertSaveFails(session);
		set(session, "of another request", "value");
		save(session);
		assertThat(stored(session, "attribute")).isEqualTo("value");
		assertThat(found(session).getMaxInactiveInterval()).isEqualTo(Duration.ofHours(2));
		assertThat(stored(session, "of another request")).isEqualTo("value");
	}

	@Test
	@DisplayName("a save that failed does not come back over what another request has saved since")
	void failedAndOverwritten() {
		KvorumSession session = saved();
		session.setAttribute("other", "older");
		session.setAttribute("attribute", "value");
		session.setMaxInactiveInterval(Duration.ofHours(2));
		this.node.next(FakeNode.Exchange::refuse);
		assertSaveFails(session);
		KvorumSession another = found(session);
		another.setAttribute("other", "newer");
		another.setMaxInactiveInterval(Duration.ofHours(3));
		save(another);
		session.setLastAccessedTime(Instant.now());
		save(session);
		assertThat(stored(session, "other")).isEqualTo("newer");
		assertThat(found(session).getMaxInactiveInterval()).isEqualTo(Duration.ofHours(3));
		assertThat(stored(session, "attribute")).isEqualTo("value");
	}

	@Test
	@DisplayName("a save of unknown outcome that has happened is not repeated over what another request has saved since")
	void unknownAndOverwritten() {
		KvorumSession session = saved();
		session.setAttribute("other", "older");
		session.removeAttribute("none");
		this.node.next(FakeNode.Exchange::loseAnswer);
		assertSaveFails(session);
		set(session, "other", "newer");
		save(session);
		assertThat(stored(session, "other")).isEqualTo("newer");
	}

	@Test
	@DisplayName("a save of unknown outcome that has happened: another save stores nothing twice")
	void unknownAndDone() {
		KvorumSession session = saved();
		session.setAttribute("other", "set");
		this.node.next(FakeNode.Exchange::loseAnswer);
		assertSaveFails(session);
		set(session, "attribute", "value");
		save(session);
		assertThat(stored(session, "other")).isEqualTo("set");
		assertThat(stored(session, "attribute")).isEqualTo("value");
	}

	@Test
	@DisplayName("after a save of unknown outcome another request restores the value before it: a conflict, until set again")
	void unknownAndRestored() {
		KvorumSession session = saved();
		session.setAttribute("login", "user");
		this.node.next(FakeNode.Exchange::loseAnswer);
		assertSaveFails(session);
		set(session, "login", null);
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> save(session))
				.withMessageContaining("login");
			assertThat(stored(session, "login")).isNull();
		}
		session.setAttribute("login", "again");
		save(session);
		assertThat(stored(session, "login")).isEqualTo("again");
	}

	@Test
	@DisplayName("a save of unknown outcome that has not happened is made up for, if no other request has saved since")
	void unknownAndNotDone() {
		KvorumSession session = saved();
		session.setAttribute("attribute", "value");
		this.node.next(FakeNode.Exchange::breakConnection);
		assertSaveFails(session);
		save(session);
		assertThat(stored(session, "attribute")).isEqualTo("value");
	}

	@Test
	@DisplayName("the first save has an unknown outcome: the next one leaves what another request has set since")
	void unknownCreate() {
		KvorumSession session = Objects.requireNonNull(this.repository.createSession().block());
		session.setAttribute("attribute", "older");
		this.node.next(FakeNode.Exchange::loseAnswer);
		assertSaveFails(session);
		set(session, "attribute", "newer");
		session.setAttribute("late", "value");
		save(session);
		assertThat(stored(session, "attribute")).isEqualTo("newer");
		assertThat(stored(session, "late")).isEqualTo("value");
	}

	/** A save that is refused when that is asked for. */
	private final class HeldSave {

		private final Sinks.Empty<Void> mayFail = Sinks.empty();

		private final CompletableFuture<?> end;

		HeldSave(KvorumSession session) {
			Sinks.Empty<Void> isWaiting = Sinks.empty();
			KvorumReactiveSessionRepositoryTests.this.node.next(request -> {
				isWaiting.tryEmitEmpty().orThrow();
				return this.mayFail.asMono().then(Mono.defer(request::refuse));
			});
			this.end = KvorumReactiveSessionRepositoryTests.this.repository.save(session).toFuture();
			isWaiting.asMono().block();
		}

		void fail() {
			this.mayFail.tryEmitEmpty().orThrow();
			assertThat(this.end).failsWithin(LONG);
		}

	}

	@Test
	@DisplayName("two saves of one session at once, and the first fails last: its values do not come back over the second's")
	void overtaken() {
		KvorumSession session = saved();
		session.setAttribute("other", "older");
		HeldSave first = new HeldSave(session);
		session.setAttribute("other", "value");
		save(session);
		first.fail();
		session.setLastAccessedTime(Instant.now());
		save(session);
		assertThat(stored(session, "other")).isEqualTo("value");
	}

	@Test
	@DisplayName("a save that fails twice is not on top of what another request has saved before it failed first")
	void failedTwice() {
		KvorumSession session = saved();
		session.setAttribute("other", "older");
		HeldSave first = new HeldSave(session);
		set(session, "other", "newer");
		session.setAttribute("attribute", "value");
		save(session);
		first.fail();
		this.node.next(FakeNode.Exchange::refuse);
		assertSaveFails(session);
		save(session);
		assertThat(stored(session, "other")).isEqualTo("newer");
	}

	@Test
	@DisplayName("a save that is cancelled is made up for by the next one")
	void cancelled() {
		KvorumSession session = saved();
		Sinks.Empty<Void> isWaiting = Sinks.empty();
		this.node.next(request -> {
			isWaiting.tryEmitEmpty().orThrow();
			return Mono.never();
		});
		session.setAttribute("attribute", "value");
		Disposable saving = this.repository.save(session).subscribe();
		isWaiting.asMono().block();
		saving.dispose();
		save(session);
		assertThat(stored(session, "attribute")).isEqualTo("value");
	}

	@Test
	@DisplayName("a save that is cancelled when it has succeeded leaves nothing to be saved")
	void cancelledTooLate() {
		KvorumSession session = saved();
		session.setAttribute("attribute", "value");
		KvorumSession.Change change = session.takeChange();
		session.saved(change, Objects.requireNonNull(change.before()));
		session.failed(change, true);
		assertThat(session.takeChange().isEmpty()).isTrue();
	}

	@Test
	@DisplayName("a class that cannot be loaded is an error of the request, which does not wait without an end")
	void unlinked() {
		KvorumSession session = saved();
		KvorumReactiveSessionRepository.Builder unlinked = KvorumReactiveSessionRepository.builder(this.client,
				new UnlinkedCodec());
		assertThatIllegalStateException().isThrownBy(() -> unlinked.build().findById(session.getId()).block());
		KvorumSession created = Objects.requireNonNull(unlinked.build().createSession().block());
		created.setAttribute("attribute", "value");
		assertThatIllegalStateException().isThrownBy(() -> unlinked.build().save(created).block());
		assertThat(unlinked.dropUnreadable().build().findById(session.getId()).block()).isNull();
	}

	@Test
	@DisplayName("no observation has the id of a session, nor does the URL of a request in a trace")
	void observations() {
		List<String> observed = new CopyOnWriteArrayList<>();
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
			@Override
			public void onStop(Observation.Context context) {
				observed.add(context.getName() + ' ' + context.getContextualName() + ' ' + context.getAllKeyValues()
						+ ' ' + context.getError());
			}

			@Override
			public boolean supportsContext(Observation.Context context) {
				return true;
			}
		});
		KvorumSession session = saved();
		String before = session.getId();
		try (KvorumClient client = this.node.client().observationRegistry(observations).build()) {
			KvorumReactiveSessionRepository repository = KvorumReactiveSessionRepository
				.builder(client, JsonObjectCodec.of(JsonMapper.shared(), String.class))
				.build();
			KvorumSession found = Objects.requireNonNull(repository.findById(before).block());
			found.setAttribute("attribute", "value");
			this.node.next(FakeNode.Exchange::refuse);
			assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> repository.save(found).block());
			this.node.next(FakeNode.Exchange::breakConnection);
			assertThatExceptionOfType(KvorumException.class).isThrownBy(() -> repository.save(found).block());
			found.changeSessionId();
			repository.save(found).block();
			repository.deleteById(found.getId()).block();
			assertThat(observed).anyMatch(text -> text.startsWith("http.client.requests"))
				.anyMatch(text -> text.startsWith("kvorum.client"))
				.anyMatch(text -> text.contains("http.url"))
				.noneMatch(text -> text.contains(before) || text.contains(found.getId()));
		}
	}

}
