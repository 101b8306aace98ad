package io.kvorum.spring.session;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.client.Codec;
import io.kvorum.client.EntityInfo;
import io.kvorum.client.KvorumClient;
import io.kvorum.client.KvorumException;
import io.kvorum.client.Range;
import io.kvorum.spring.codec.JavaObjectCodec;
import io.kvorum.spring.codec.JsonObjectCodec;
import io.kvorum.test.KvorumExtension;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.core.serializer.support.SerializationFailedException;
import org.springframework.session.SaveMode;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** With the stories that Spring Session tells of its repository in Redis. */
@DisplayName("Sessions")
@Timeout(60)
class KvorumReactiveSessionRepositoryIT {

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(1).relayed();

	private static final Codec<Object> JSON = JsonObjectCodec.typed(JsonMapper.builder()
		.activateDefaultTyping(BasicPolymorphicTypeValidator.builder().allowIfSubType("java.util.").build())
		.build());

	@SuppressWarnings("NullAway.Init")
	private static KvorumClient client;

	private final KvorumReactiveSessionRepository repository = KvorumReactiveSessionRepository.builder(client, JSON)
		.build();

	@BeforeAll
	static void connect() {
		client = KvorumClient.builder(kvorum.urls()).build();
	}

	@AfterAll
	static void close() {
		client.close();
	}

	private KvorumSession created() {
		return Objects.requireNonNull(this.repository.createSession().block());
	}

	private KvorumSession saved(String attribute) {
		KvorumSession session = created();
		session.setAttribute(attribute, attribute + "-value");
		save(session);
		return found(session.getId());
	}

	private KvorumSession found(String id) {
		KvorumSession session = find(id);
		assertThat(session).isNotNull();
		return Objects.requireNonNull(session);
	}

	private @Nullable KvorumSession find(String id) {
		return this.repository.findById(id).block();
	}

	private void save(KvorumSession session) {
		this.repository.save(session).block();
	}

	private void assertInvalidated(KvorumSession session) {
		assertThatIllegalStateException().isThrownBy(() -> save(session)).withMessage("Session was invalidated");
	}

	@Test
	@DisplayName("a saved session is found with all that it has, until it is deleted")
	void saves() {
		KvorumSession session = created();
		session.setAttribute("name", "value");
		session.setAttribute("numbers", new ArrayList<>(List.of(1, 2)));
		session.setMaxInactiveInterval(Duration.ofMinutes(5));
		save(session);
		KvorumSession found = found(session.getId());
		assertThat(found.getAttributeNames()).containsExactlyInAnyOrder("name", "numbers");
		assertThat(found.<String>getAttribute("name")).isEqualTo("value");
		assertThat(found.<List<Integer>>getAttribute("numbers")).isEqualTo(List.of(1, 2));
		assertThat(found.getCreationTime().toEpochMilli()).isEqualTo(session.getCreationTime().toEpochMilli());
		assertThat(found.getMaxInactiveInterval()).isEqualTo(Duration.ofMinutes(5));
		assertThat(info(session).expires()).isBetween(Instant.now().plusSeconds(280), Instant.now().plusSeconds(302));
		this.repository.deleteById(session.getId()).block();
		assertThat(find(session.getId())).isNull();
	}

	private EntityInfo info(KvorumSession session) {
		return client.entities().info("sessions/" + session.getId()).blockOptional().orElseThrow();
	}

	@Test
	@DisplayName("a session that was not saved is not found")
	void notSaved() {
		assertThat(find(created().getId())).isNull();
	}

	@Test
	@DisplayName("an attribute that is set or removed leaves the others as they are")
	void delta() {
		KvorumSession session = saved("a");
		session.setAttribute("b", "b-value");
		save(session);
		session.removeAttribute("a");
		save(session);
		KvorumSession found = found(session.getId());
		assertThat(found.getAttributeNames()).containsExactly("b");
	}

	@Test
	@DisplayName("a session that was not changed is not written")
	void unchanged() {
		KvorumSession session = saved("a");
		EntityInfo before = info(session);
		save(session);
		assertThat(info(session).version()).isEqualTo(before.version());
	}

	@Test
	@DisplayName("two saves of one session at the same time save all")
	void savedTwice() {
		KvorumSession session = created();
		session.setAttribute("a", "1");
		Mono<Void> first = this.repository.save(session);
		session.setAttribute("b", "2");
		Mono<Void> second = this.repository.save(session);
		Mono.when(first, second).block();
		assertThat(found(session.getId()).getAttributeNames()).containsExactlyInAnyOrder("a", "b");
	}

	@RepeatedTest(3)
	@DisplayName("8 requests at the same time: the attributes of all are there afterwards")
	void concurrentRequests() {
		String id = saved("a").getId();
		Flux.range(0, 8).flatMap(i -> this.repository.findById(id).flatMap(session -> {
			session.setAttribute("request" + i, i);
			session.setLastAccessedTime(Instant.now());
			return this.repository.save(session);
		}), 8).blockLast();
		assertThat(found(id).getAttributeNames()).hasSize(9);
	}

	@Test
	@DisplayName("two requests that read the same session and save one after another keep both attributes")
	void twoRequests() {
		KvorumSession first = saved("a");
		KvorumSession second = found(first.getId());
		first.setAttribute("first", "1");
		second.setAttribute("second", "2");
		second.removeAttribute("a");
		save(first);
		save(second);
		assertThat(found(first.getId()).getAttributeNames()).containsExactlyInAnyOrder("first", "second");
	}

	@Test
	@DisplayName("connections are cut while 4 requests save: all that was reported as saved is there")
	void cutConnections() {
		String id = saved("a").getId();
		AtomicInteger saves = new AtomicInteger();
		Set<String> expected = ConcurrentHashMap.newKeySet();
		Mono<Void> cuts = Flux.range(0, 20)
			.concatMap(i -> Mono.fromRunnable(kvorum.node(1)::cutFromClients)
				.then(Mono.delay(Duration.ofMillis(1 + i)))
				.then(Mono.fromRunnable(kvorum.node(1)::heal))
				.then(Mono.delay(Duration.ofMillis(40)))
				.subscribeOn(Schedulers.boundedElastic()))
			.then();
		Mono<Void> requests = Flux.range(0, 4).flatMap(i -> Flux.range(0, 50).concatMap(j -> {
			String name = "request" + i + '-' + j;
			return this.repository.findById(id).flatMap(session -> {
				session.setAttribute(name, j);
				return this.repository.save(session);
			})
				.doOnSuccess(saved -> expected.add(name))
				.doOnTerminate(saves::incrementAndGet)
				.onErrorComplete(KvorumException.class);
		})).then();
		Mono.when(cuts, requests).block();
		System.out.printf("  %d saves, %d reported as saved%n", saves.get(), expected.size());
		assertThat(expected).hasSizeGreaterThan(100);
		KvorumSession last = found(id);
		assertThat(last.getAttributeNames()).containsAll(expected);
		last.changeSessionId();
		save(last);
		assertThat(found(last.getId()).getAttributeNames()).containsAll(expected);
		assertThat(find(id)).isNull();
	}

	@Test
	@DisplayName("the longer interval of one request is not undone by the access of another")
	void interval() {
		KvorumSession first = saved("a");
		KvorumSession second = found(first.getId());
		first.setMaxInactiveInterval(Duration.ofHours(10));
		save(first);
		second.setLastAccessedTime(Instant.now());
		save(second);
		assertThat(found(first.getId()).getMaxInactiveInterval()).isEqualTo(Duration.ofHours(10));
		assertThat(info(first).expires()).isAfter(Instant.now().plus(Duration.ofHours(9)));
		second.setMaxInactiveInterval(Duration.ofSeconds(-1));
		save(second);
		assertThat(info(first).expires()).isNull();
	}

	@Test
	@DisplayName("a deleted session does not come back by a late save")
	void deleted() {
		KvorumSession late = saved("a");
		KvorumSession later = found(late.getId());
		this.repository.deleteById(late.getId()).block();
		late.setAttribute("b", "value");
		assertInvalidated(late);
		later.changeSessionId();
		assertInvalidated(later);
		assertThat(find(late.getId())).isNull();
		assertThat(find(later.getId())).isNull();
	}

	@RepeatedTest(5)
	@DisplayName("deleted while it is saved by 4 requests: it is gone afterwards")
	void deletedMeanwhile() {
		String id = saved("a").getId();
		Mono<Void> saves = Flux.range(0, 4).flatMap(i -> this.repository.findById(id).flatMap(session -> {
			session.setAttribute("request" + i, i);
			return this.repository.save(session).onErrorComplete(IllegalStateException.class);
		})).then();
		Mono.when(saves, this.repository.deleteById(id)).block();
		assertThat(find(id)).isNull();
	}

	@Test
	@DisplayName("a changed id: the session has the new one with all attributes, and the old one is gone")
	void changedId() {
		KvorumSession session = saved("a");
		String before = session.getId();
		session.setAttribute("b", "b-value");
		String between = session.changeSessionId();
		String after = session.changeSessionId();
		save(session);
		assertThat(find(before)).isNull();
		assertThat(find(between)).isNull();
		assertThat(found(after).getAttributeNames()).containsExactlyInAnyOrder("a", "b");
		session.setAttribute("c", "c-value");
		save(session);
		assertThat(found(after).getAttributeNames()).hasSize(3);
	}

	@Test
	@DisplayName("a changed id of a session that was never saved")
	void changedIdOfNew() {
		KvorumSession session = created();
		String before = session.getId();
		session.changeSessionId();
		save(session);
		save(session);
		assertThat(find(before)).isNull();
		assertThat(find(session.getId())).isNotNull();
	}

	@Test
	@DisplayName("a changed id: what another request saves meanwhile is kept, and a later save fails")
	void changedIdMeanwhile() {
		KvorumSession changing = saved("a");
		String before = changing.getId();
		KvorumSession other = found(before);
		KvorumSession late = found(before);
		changing.changeSessionId();
		other.setAttribute("b", "b-value");
		save(other);
		save(changing);
		assertThat(found(changing.getId()).getAttributeNames()).containsExactlyInAnyOrder("a", "b");
		late.setLastAccessedTime(Instant.now());
		assertInvalidated(late);
		assertThat(find(before)).isNull();
	}

	@RepeatedTest(5)
	@DisplayName("the id is changed by 4 requests at the same time: one session is left")
	void changedTwice() {
		String before = saved("a").getId();
		List<KvorumSession> sessions = List.of(found(before), found(before), found(before), found(before));
		AtomicInteger failed = new AtomicInteger();
		Flux.fromIterable(sessions).flatMap(session -> {
			session.changeSessionId();
			return this.repository.save(session).onErrorResume(IllegalStateException.class, invalidated -> {
				failed.incrementAndGet();
				return Mono.empty();
			});
		}).blockLast();
		assertThat(failed).hasValue(3);
		assertThat(find(before)).isNull();
		assertThat(sessions.stream().filter(session -> find(session.getId()) != null)).hasSize(1);
	}

	@Test
	@DisplayName("an interval of a second: the session is gone after it, and was there longer since it was used")
	void expires() {
		KvorumReactiveSessionRepository brief = KvorumReactiveSessionRepository.builder(client, JSON)
			.prefix("brief/")
			.maxInactiveInterval(Duration.ofSeconds(1))
			.build();
		KvorumSession session = Objects.requireNonNull(brief.createSession().block());
		brief.save(session).block();
		long begun = System.nanoTime();
		while (System.nanoTime() - begun < Duration.ofMillis(1500).toNanos()) {
			session.setLastAccessedTime(Instant.now());
			brief.save(session).block();
			assertThat(brief.findById(session.getId()).block()).isNotNull();
		}
		while (brief.findById(session.getId()).block() != null) {
			assertThat(System.nanoTime() - begun).isLessThan(Duration.ofSeconds(10).toNanos());
			Thread.onSpinWait();
		}
		assertThat(client.entities().blocking().list(Range.prefix("brief/"))).isEmpty();
	}

	@Test
	@DisplayName("an object that was changed in place is saved if the mode says so")
	void saveModes() {
		for (SaveMode mode : SaveMode.values()) {
			KvorumReactiveSessionRepository repository = KvorumReactiveSessionRepository.builder(client, JSON)
				.saveMode(mode)
				.build();
			KvorumSession session = Objects.requireNonNull(repository.createSession().block());
			session.setAttribute("list", new ArrayList<>(List.of(1)));
			repository.save(session).block();
			KvorumSession read = Objects.requireNonNull(repository.findById(session.getId()).block());
			read.<List<Integer>>getRequiredAttribute("list").add(2);
			repository.save(read).block();
			assertThat(found(session.getId()).<List<Integer>>getRequiredAttribute("list"))
				.hasSize((mode == SaveMode.ON_SET_ATTRIBUTE) ? 1 : 2);
		}
	}

	@Test
	@DisplayName("a failed save is made up for by the next one")
	void failedSave() {
		KvorumSession session = saved("a");
		session.setAttribute("bad", new Unwritable());
		session.setAttribute("good", "value");
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> save(session));
		session.removeAttribute("bad");
		save(session);
		assertThat(found(session.getId()).getAttributeNames()).containsExactlyInAnyOrder("a", "good");
	}

	@Test
	@DisplayName("an attribute that is not allowed any more: an error, or the session is deleted if that is asked for")
	void unreadable() {
		KvorumReactiveSessionRepository writer = KvorumReactiveSessionRepository
			.builder(client, JavaObjectCodec.allowing("io.kvorum.spring.session"))
			.build();
		KvorumReactiveSessionRepository.Builder reader = KvorumReactiveSessionRepository.builder(client,
				JavaObjectCodec.allowing("com.example"));
		KvorumSession session = Objects.requireNonNull(writer.createSession().block());
		session.setAttribute("mode", new Mine());
		writer.save(session).block();
		KvorumReactiveSessionRepository strict = reader.build();
		assertThatExceptionOfType(SerializationFailedException.class)
			.isThrownBy(() -> strict.findById(session.getId()).block());
		assertThat(writer.findById(session.getId()).block()).isNotNull();
		assertThat(reader.dropUnreadable().build().findById(session.getId()).block()).isNull();
		assertThat(writer.findById(session.getId()).block()).isNull();
	}

	/** An attribute that cannot be written. */
	static final class Unwritable {

		/** Without an end. */
		public Unwritable getSelf() {
			return this;
		}

	}

	/** An attribute of the application. */
	static final class Mine implements java.io.Serializable {

		private static final long serialVersionUID = 1;

	}

}
