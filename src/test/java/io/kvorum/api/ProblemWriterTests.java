package io.kvorum.api;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.kv.Replicas;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.storage.StorageException.Overloaded;
import io.kvorum.testing.Generator;
import io.kvorum.testing.Now;
import io.kvorum.testing.SeededTest;
import io.kvorum.wire.HttpExchange;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** What is kept of one failure and given for the next one is what would be said anew. */
class ProblemWriterTests {

	private final JsonMapper json = new JsonMapper();

	private final ProblemWriter problems = new ProblemWriter(this.json);

	@SeededTest
	void whateverFailsInWhateverOrderIsAnsweredByItsOwnProblem(long seed) {
		List<OperationFailedException> failures = new ArrayList<>();
		try (EntityServer node = new EntityServer()) {
			for (int i = 0; i < 500; i++) {
				// Each of them several times, and more than are kept.
				failures.add(refusal(node, "limit " + i % 100));
			}
		}
		Collections.shuffle(failures, new Random(seed));

		assertThat(failures).allSatisfy(failed -> {
			Answered answer = new Answered();
			Now.of(this.problems.write(answer, failed));
			Problem problem = Problem.of(failed);
			assertThat(answer.body).isEqualTo(this.json.writeValueAsString(problem.toJson()));
			assertThat(answer.status()).isEqualTo(503);
			assertThat(answer.headers).containsOnly(Map.entry("content-type", "application/problem+json"),
					Map.entry("content-length", Integer.toString(answer.body.length())), Map.entry("retry-after", "1"));
		});
	}

	@Test
	void aFailureThatIsNotToBeTriedAgainSaysNotWhen() {
		Answered answer = new Answered();
		Now.of(this.problems.writeNotFound(answer));

		assertThat(answer.status()).isEqualTo(404);
		assertThat(answer.body).isEqualTo(this.json.writeValueAsString(Problem.NOT_FOUND.toJson()));
		assertThat(answer.headers).doesNotContainKey("retry-after");
	}

	private static OperationFailedException refusal(EntityServer node, String limit) {
		node.storage.early = new Overloaded(limit, 1);
		OperationFailedException refused = node.coordinator.refuseWrite(Operation.PUT, Generator.key("a"),
				new Replicas(1, 1), 0);
		if (refused == null) {
			throw new AssertionError("it was not refused");
		}
		return refused;
	}

	/** Keeps the answer. */
	private static final class Answered implements HttpExchange {

		final Map<String, String> headers = new HashMap<>();

		String body = "";

		private int status = 200;

		@Override
		public String method() {
			return "PUT";
		}

		@Override
		public String scheme() {
			return "http";
		}

		@Override
		public @Nullable String rawQuery() {
			return null;
		}

		@Override
		public @Nullable String header(CharSequence name) {
			return null;
		}

		@Override
		public List<String> headers(CharSequence name) {
			return List.of();
		}

		@Override
		public @Nullable InetAddress remote() {
			return null;
		}

		@Override
		public <T> Mono<T> readBody(Consumer<ByteBuf> part, Supplier<T> whole) {
			throw new AssertionError("the body was read");
		}

		@Override
		public void status(int status) {
			this.status = status;
		}

		@Override
		public int status() {
			return this.status;
		}

		@Override
		public void set(CharSequence name, CharSequence value) {
			this.headers.put(name.toString(), value.toString());
		}

		@Override
		public void beforeCommit(Runnable task) {
			throw new AssertionError("nothing is observed");
		}

		@Override
		public boolean isCommitted() {
			return false;
		}

		@Override
		public Mono<Void> send(byte[] array, int offset, int length) {
			this.body = new String(array, offset, length, StandardCharsets.UTF_8);
			return Mono.empty();
		}

		@Override
		public Mono<Void> end() {
			return Mono.empty();
		}

	}

}
