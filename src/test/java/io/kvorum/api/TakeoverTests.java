package io.kvorum.api;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.kvorum.access.AccessControl;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationFailedException.Kind;
import io.kvorum.operation.OperationFailedException.ReplicaFailure;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.quorum.Reply.Reason;
import io.kvorum.testing.ConditionalStore;
import io.kvorum.testing.RawHttp;
import io.kvorum.testing.RawHttp.Response;
import io.kvorum.testing.SteeredTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.netty.DisposableServer;

import static org.assertj.core.api.Assertions.assertThat;

/** What retired nodes and gateways that take keys over answer. */
class TakeoverTests {

	private static final String TAKEOVER = "Kvorum-Takeover: true\r\n";

	private final ConditionalStore store = new ConditionalStore();

	private final SteeredTime time = new SteeredTime();

	private @Nullable DisposableServer server;

	private @Nullable RawHttp connection;

	private void serve(boolean isRetired, boolean takesOver) {
		ApiSettings settings = new ApiSettings(EntityServer.MAX_VALUE_BYTES, EntityServer.MAX_VALUE_BYTES,
				Duration.ofSeconds(1), null, isRetired, takesOver);
		this.server = EntityServer.serve(this.store, AccessControl.off(this.time), settings, this.time, (_, _, _) -> {
		}, (_, _) -> null);
		this.connection = RawHttp.connect(this.server.port());
	}

	@AfterEach
	void close() {
		if (this.connection != null && this.server != null) {
			this.connection.close();
			this.server.disposeNow();
		}
	}

	private Response send(String method, String query, String headers) {
		if (this.connection == null) {
			throw new IllegalStateException("nothing is served");
		}
		return this.connection
			.exchange("%s /v0/entity%s HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n%s\r\n".formatted(method, query,
					headers))
			.getFirst();
	}

	private static OperationFailedException failureOf(Reason reason) {
		return new OperationFailedException(Kind.NOT_ENOUGH_REPLICAS, "it has failed", 3, 0, false, true,
				List.of(new ReplicaFailure("http://a:1", ReplicaFailure.PENDING, false, true),
						new ReplicaFailure("http://b:1", reason.text(), false, true)));
	}

	@Test
	void aRetiredNodeReadsAllReplicasForAGateway() {
		serve(true, false);
		Response answer = send("GET", "?id=key", TAKEOVER);
		assertThat(answer.status()).isEqualTo(404);
		assertThat(answer.header("Kvorum-Takeover")).isEqualTo("retired");
		assertThat(this.store.reads()).extracting(Replicas::toString).containsExactly("3/3");
		assertThat(send("GET", "?id=key", "").status()).isEqualTo(503);
		assertThat(send("PUT", "?id=key", TAKEOVER).status()).isEqualTo(503);
	}

	/** It has no body that would say so. */
	@Test
	void anAnswerToAHeadSaysByAHeaderThatTheNodeIsRetired() {
		serve(true, false);
		Response answer = Objects.requireNonNull(this.connection)
			.send("HEAD /v0/entity?id=key HTTP/1.1\r\nHost: a\r\n\r\n")
			.readStatus();
		assertThat(answer.status()).isEqualTo(503);
		assertThat(answer.header("Kvorum-Takeover")).isEqualTo("retired");
	}

	/**
	 * The version of an entry is not its ETag once a conditional write has replaced it.
	 */
	@Test
	void aRetiredNodeTellsTheVersionOfWhatItHas() {
		serve(false, false);
		String etag = String.valueOf(send("PUT", "?id=key", "").header("ETag"));
		close();
		serve(true, false);
		Response answer = send("GET", "?id=key", TAKEOVER);
		assertThat(answer.header("ETag")).isEqualTo(etag);
		assertThat(answer.header("Kvorum-Version")).hasSize(32).isGreaterThan(etag.substring(1, 33));
		assertThat(send("GET", "?id=none", TAKEOVER).header("Kvorum-Version")).isNull();
	}

	@Test
	void aSlowReplicaOfAKeyMakesNoEntryAbsent() {
		serve(true, false);
		this.store.failReads(failureOf(Reason.TIMEOUT), 3);
		assertThat(send("GET", "?id=key", TAKEOVER).status()).isEqualTo(504);
		this.store.failReads(null);
		assertThat(send("GET", "?id=other", TAKEOVER).status()).isEqualTo(404);
		assertThat(this.store.reads()).extracting(Replicas::toString).containsExactly("3/3", "3/3");
	}

	@Test
	void aRetiredNodeReadsAllReplicasThatAreNotAwayAndAMajorityAtLeast() {
		this.store.policy(new ReplicationPolicy(5, 5));
		serve(true, false);
		this.store.failReads(failureOf(Reason.AWAY), 5);
		assertThat(send("GET", "?id=key", TAKEOVER).status()).isEqualTo(404);
		assertThat(this.store.reads()).extracting(Replicas::toString).containsExactly("5/5", "4/5");
		this.store.failReads(failureOf(Reason.AWAY), 1);
		assertThat(send("GET", "?id=key", TAKEOVER).status()).isEqualTo(504);
		assertThat(this.store.reads().subList(2, 5)).extracting(Replicas::toString)
			.containsExactly("5/5", "4/5", "3/5");
	}

	@Test
	void aGatewaySaysWhetherItTakesKeysOver() {
		serve(false, true);
		assertThat(send("GET", "?id=", TAKEOVER).header("Kvorum-Takeover")).isEqualTo("gateway");
		assertThat(send("GET", "?id=key", "").header("Kvorum-Takeover")).isNull();
		assertThat(this.store.reads()).extracting(Replicas::toString).containsExactly("2/3");
		close();
		serve(false, false);
		assertThat(send("GET", "?id=", TAKEOVER).header("Kvorum-Takeover")).isNull();
	}

	@Test
	void anEventualWriteWithANameIsRefusedWhereLevelsAreOrderedApart() {
		this.store.policy(ReplicationPolicy.fixed(3, List.of(1, 2, 3)));
		serve(false, false);
		String named = "Idempotency-Key: name\r\n";
		String eventual = "Kvorum-Consistency: eventual\r\n";
		for (String method : List.of("PUT", "DELETE")) {
			assertThat(send(method, "?id=key", named + eventual).body()).contains("condition-needs-majority");
			assertThat(send(method, "?id=key&replicas=1/3", named).status()).isEqualTo(400);
			assertThat(send(method, "?id=key", named).status()).isLessThan(300);
			assertThat(send(method, "?id=key", eventual).status()).isLessThan(300);
		}
		close();
		this.store.policy(new ReplicationPolicy(3, 3));
		serve(false, false);
		assertThat(send("PUT", "?id=key", named + eventual).status()).isEqualTo(201);
	}

	@Test
	void aDefaultWriteIsLinearizableIfTheFactorChangesMeanwhile() {
		this.store.policy(ReplicationPolicy.fixed(3, List.of(1, 2, 3)));
		serve(false, false);
		this.store.beforeNextWrite(() -> this.store.policy(ReplicationPolicy.fixed(5, List.of(1, 3, 5))));
		assertThat(send("PUT", "?id=key", "").header("Kvorum-Consistency")).isEqualTo("linearizable");
	}

}
