package io.kvorum.cassandra;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

import io.kvorum.cassandra.CassandraStore.Attempt;
import io.kvorum.cassandra.Failures.Effect;
import io.kvorum.cassandra.Statements.Change;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.operation.Newest;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver.Step;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Takes keys over from other nodes, each before the first operation on it: stores its
 * value with its version, and then a row beside the entry that says so. From then on the
 * entry is Cassandra's, whatever becomes of it.
 * <p>
 * Nothing is done before all of the other nodes are retired: no client can write there
 * what is not seen here.
 */
public final class Takeover {

	private static final Logger logger = LoggerFactory.getLogger(Takeover.class);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

	/** By which a version of a node becomes half of the microseconds since 1970. */
	private static final int TIMESTAMP_SHIFT = 7;

	private final RetiredNodes nodes;

	private final TimeSource time;

	private volatile @Nullable String obstacle = "they have not been asked yet";

	/** A takeover that has not begun. */
	public Takeover(RetiredNodes nodes, TimeSource time) {
		this.nodes = nodes;
		this.time = time;
	}

	/** Begins as soon as all nodes are retired. */
	public Mono<Void> begin() {
		return Mono.defer(this.nodes::check)
			.doOnError(ex -> note(String.valueOf(ex.getMessage())))
			.retryWhen(Retry.fixedDelay(Long.MAX_VALUE, POLL_INTERVAL))
			.doOnSuccess(_ -> {
				this.obstacle = null;
				logger.info("All nodes whose keys this gateway takes over are retired: it serves");
			});
	}

	private void note(String why) {
		if (!why.equals(this.obstacle)) {
			this.obstacle = why;
			logger.info("The gateway waits for the nodes whose keys it takes over: {}", why);
		}
	}

	/** Why nothing can be served yet; null if it can. */
	public @Nullable String obstacle() {
		String why = this.obstacle;
		return (why != null) ? "the nodes whose keys this gateway takes over are not all retired: " + why : null;
	}

	/**
	 * Takes a key over unless that was done. If it fails, the operation was not begun,
	 * whatever has become of the takeover.
	 */
	Mono<Void> of(Key key, Attempt attempt) {
		return take(key, attempt).timeout(attempt.left())
			.onErrorMap(TimeoutException.class, _ -> new IllegalStateException("it takes longer than the request may"))
			.onErrorMap(ex -> notBegun(ex, attempt));
	}

	/**
	 * The nodes change no more, so it does no harm if two gateways do this at once, or
	 * one of them late. Where one of them has found something newer, since a node came
	 * back that was away, that stays: what is taken over is ordered by its version. The
	 * row comes last: where it is seen the entry is at a quorum, and no operation begins
	 * without it, so a key that was deleted is never taken over again. The operation
	 * finds in Cassandra what it has taken over, or what a gateway has written that takes
	 * nothing over any more.
	 */
	private Mono<Void> take(Key key, Attempt attempt) {
		ByteBuffer bytes = CassandraStore.bytes(key);
		Statements statements = attempt.statements();
		Mono<Void> taking = this.nodes
			.read(key,
					newest -> attempt
						.execute(statements.take(bytes, change(newest.live()), timestamp(newest.version())), Step.STORE,
								Effect.WRITE)
						.then())
			.then(Mono.defer(() -> attempt.execute(statements.setTaken(bytes), Step.STORE, Effect.WRITE)))
			.then();
		return attempt.execute(statements.taken(bytes), Step.READ, Effect.READ)
			.flatMap(result -> (result.one() != null) ? Mono.empty() : taking);
	}

	/**
	 * The order of versions, and below all that gateways write for themselves, which have
	 * the microseconds.
	 */
	static long timestamp(Version version) {
		return version.timestamp() >>> TIMESTAMP_SHIFT;
	}

	private Change change(@Nullable Live live) {
		if (live == null) {
			return new Change(null, VersionCell.plain(), 0);
		}
		Version version = live.identity();
		ByteBuffer entry = StoredEntry.encode(version, live.expiresAtMillis(), live.contentType(), live.value());
		if (!live.expires()) {
			return new Change(entry, VersionCell.of(version), 0);
		}
		Duration rest = Duration.ofMillis(Math.max(0, live.expiresAtMillis() - this.time.millis()));
		return new Change(entry, VersionCell.ofExpiring(version), KeyWrite.ttlSeconds(rest, this.time.millis()));
	}

	private static OperationFailedException notBegun(Throwable ex, Attempt attempt) {
		String why = (ex.getMessage() != null) ? ex.getMessage() : ex.getClass().getSimpleName();
		return Failures.notBegun(attempt.required(), "the key could not be taken over: " + why);
	}

}
