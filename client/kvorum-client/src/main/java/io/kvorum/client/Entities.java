package io.kvorum.client;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

import io.kvorum.client.KvorumException.ConditionNotMet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Values of a type, by key. Nothing is sent before something is subscribed to, and each
 * subscription is an operation of its own. To cancel one closes its connection; a write
 * may have happened then.
 * <p>
 * A key has 1 to 1024 bytes in UTF-8; others end in an {@link IllegalArgumentException}.
 * All other errors are {@link KvorumException}s, or come from the codec. Results come on
 * the threads of the connections, which must not block.
 *
 * @param <T> the type of values
 */
public final class Entities<T> {

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(50);

	/** Beside the value of an entry in a range: its key, its type and the syntax. */
	private static final int LINE_BYTES = 16 * 1024;

	private final Connections connections;

	private final Codec<T> codec;

	Entities(Connections connections, Codec<T> codec) {
		this.connections = connections;
		this.codec = codec;
	}

	/**
	 * Reads a value.
	 * @param key the key
	 * @return the value; empty if there is none
	 */
	public Mono<Entity<T>> get(String key) {
		return get(key, ReadOptions.DEFAULTS);
	}

	/**
	 * Reads a value.
	 * @param key the key
	 * @param options how
	 * @return the value; empty if there is none
	 */
	public Mono<Entity<T>> get(String key, ReadOptions options) {
		return this.connections
			.observed("get", Mono.defer(() -> this.connections.calls().read(Requests.get(key, options), options)))
			.mapNotNull(answer -> (answer.status() != 404) ? entity(key, answer) : null);
	}

	private Entity<T> entity(String key, Answer answer) {
		String contentType = answer.contentType();
		return new Entity<>(key, this.codec.decode(answer.body(), contentType),
				Objects.requireNonNull(answer.version()), contentType, answer.instant("Last-Modified"),
				answer.instant("Expires"));
	}

	/**
	 * Reads what is known of a value.
	 * @param key the key
	 * @return that; empty if there is no value
	 */
	public Mono<EntityInfo> info(String key) {
		return info(key, ReadOptions.DEFAULTS);
	}

	/**
	 * Reads what is known of a value.
	 * @param key the key
	 * @param options how
	 * @return that; empty if there is no value
	 */
	public Mono<EntityInfo> info(String key, ReadOptions options) {
		return this.connections
			.observed("info", Mono.defer(() -> this.connections.calls().read(Requests.head(key, options), options)))
			.mapNotNull(answer -> (answer.status() != 404) ? info(key, answer) : null);
	}

	private static EntityInfo info(String key, Answer answer) {
		String length = answer.header("Content-Length");
		return new EntityInfo(key, false, answer.version(), answer.contentType(),
				(length != null) ? Long.parseLong(length) : 0, answer.instant("Expires"));
	}

	/**
	 * Writes a value, whatever there was.
	 * @param key the key
	 * @param value the value
	 * @return the version of the value
	 */
	public Mono<Version> put(String key, T value) {
		return put(key, value, WriteOptions.DEFAULTS);
	}

	/**
	 * Writes a value.
	 * @param key the key
	 * @param value the value
	 * @param options on which condition, for how long, how often
	 * @return the version of the value
	 */
	public Mono<Version> put(String key, T value, WriteOptions options) {
		return answerToPut(key, value, options).mapNotNull(Answer::version);
	}

	/** What the node has answered that has written a value. */
	Mono<Answer> answerToPut(String key, T value, WriteOptions options) {
		Objects.requireNonNull(value, "a value is not null: delete the key");
		return this.connections.observed("put", Mono.defer(() -> {
			WriteOptions named = options.named();
			return this.connections.calls()
				.write(Requests.put(key, this.codec.encode(value), this.codec.contentType(), named), named);
		}));
	}

	/**
	 * Removes a value, if there is one.
	 * @param key the key
	 * @return completes when it is removed
	 */
	public Mono<Void> delete(String key) {
		return delete(key, WriteOptions.DEFAULTS);
	}

	/**
	 * Removes a value.
	 * @param key the key
	 * @param options on which condition, how often
	 * @return completes when it is removed
	 */
	public Mono<Void> delete(String key, WriteOptions options) {
		return this.connections.observed("delete", Mono.defer(() -> {
			WriteOptions named = options.named();
			return this.connections.calls().write(Requests.delete(key, named), named);
		})).then();
	}

	/**
	 * Changes a value as if nobody else did: reads it, applies the change and writes the
	 * result if the value is still the same, else begins again. Each write has an
	 * idempotency key, so that none is lost or happens twice.
	 * @param key the key
	 * @param change from the value, null if there is none, to the value to be written,
	 * null to remove it. May be called several times, on a thread that must not block. A
	 * value that would expire stays from then on
	 * @return what was written, of which it is not told when it expires; empty if there
	 * is no value now; {@link KvorumException.Contention} if other writes came in between
	 * until the deadline
	 */
	public Mono<Entity<T>> update(String key, UnaryOperator<@Nullable T> change) {
		return update(key, change, WriteOptions.DEFAULTS);
	}

	/**
	 * As {@link #update(String, UnaryOperator)}, with a time to live or a deadline.
	 * @param key the key
	 * @param change as there
	 * @param options without condition and idempotency key, which are those of the update
	 * @return what was written; empty if there is no value now
	 */
	public Mono<Entity<T>> update(String key, UnaryOperator<@Nullable T> change, WriteOptions options) {
		refuseConditions(options);
		return Mono.defer(() -> {
			long end = endOf(options);
			return Mono
				.defer(() -> readUntil(end, key)
					.flatMap(found -> writeUntil(end, key, found, change.apply(valueOf(found)), options)))
				.retryWhen(Retry.from(signals -> signals.concatMap(signal -> again(signal.failure(), end))));
		});
	}

	/**
	 * As {@link #update(String, UnaryOperator, WriteOptions)}, on the calling thread,
	 * which may block.
	 */
	Optional<Entity<T>> updateHere(String key, UnaryOperator<@Nullable T> change, WriteOptions options) {
		refuseConditions(options);
		long end = endOf(options);
		while (true) {
			Optional<Entity<T>> found = Objects.requireNonNull(readUntil(end, key).block());
			T value = change.apply(valueOf(found));
			try {
				return writeUntil(end, key, found, value, options).blockOptional();
			}
			catch (ConditionNotMet ex) {
				again(ex, end).block();
			}
		}
	}

	private static void refuseConditions(WriteOptions options) {
		if (options.condition() != null || options.isNamed()) {
			throw new IllegalArgumentException("an update has its own conditions and idempotency keys");
		}
	}

	private long endOf(WriteOptions options) {
		Duration deadline = options.deadline();
		return System.nanoTime() + ((deadline != null) ? deadline : this.connections.calls().deadline()).toNanos();
	}

	private Mono<Optional<Entity<T>>> readUntil(long end, String key) {
		return get(key, ReadOptions.DEFAULTS.deadline(until(end))).map(Optional::of).defaultIfEmpty(Optional.empty());
	}

	private static <T> @Nullable T valueOf(Optional<Entity<T>> found) {
		return found.map(Entity::value).orElse(null);
	}

	/** Writes a value, or removes it if it is null, unless it was changed meanwhile. */
	private Mono<Entity<T>> writeUntil(long end, String key, Optional<Entity<T>> before, @Nullable T value,
			WriteOptions asked) {
		Entity<T> found = before.orElse(null);
		WriteOptions options = asked.deadline(until(end)).once();
		WriteOptions ifSame = (found != null) ? options.ifVersion(found.version()) : options.ifAbsent();
		if (value != null) {
			return put(key, value, ifSame)
				.map(version -> new Entity<>(key, value, version, this.codec.contentType(), null, null));
		}
		return (found != null) ? delete(key, ifSame.withoutTtl()).then(Mono.empty()) : Mono.empty();
	}

	private static Duration until(long endNanos) {
		return Duration.ofNanos(Math.max(endNanos - System.nanoTime(), 1));
	}

	/** A pause, if the value was changed and there is time to begin again. */
	static Mono<Long> again(Throwable failure, long endNanos) {
		if (!(failure instanceof ConditionNotMet changed) || !ConditionNotMet.isCertain(failure)) {
			return Mono.error(failure);
		}
		long pause = ThreadLocalRandom.current().nextLong(LONGEST_PAUSE.toNanos());
		return (endNanos - System.nanoTime() > pause + Attempts.LEAST_NANOS) ? Mono.delay(Duration.ofNanos(pause))
				: Mono.error(changed.contention());
	}

	/**
	 * Reads values in the order of their keys, as fast as they are asked for. Goes on at
	 * another node when a connection breaks, and ends in an error if a part cannot be
	 * read: never too early. It is not a snapshot: each value is as new as its reading.
	 * @param range which keys
	 * @return the values
	 */
	public Flux<Entity<T>> range(Range range) {
		return lines("range", range, true).map(line -> {
			String contentType = text(line, "contentType");
			byte[] value = (byte[]) Objects.requireNonNull(line.get("value"));
			return new Entity<>(text(line, "id"), this.codec.decode(value, contentType),
					new Version(text(line, "version")), contentType, null, null);
		});
	}

	/**
	 * Lists keys in their order, without their values; otherwise as
	 * {@link #range(Range)}.
	 * @param range which keys, and whether they are folded into folders
	 * @return what is known of them
	 */
	public Flux<EntityInfo> list(Range range) {
		return lines("list", range, false).map(line -> {
			Object folder = line.get("prefix");
			return (folder != null) ? EntityInfo.folder(folder.toString())
					: new EntityInfo(text(line, "id"), false, new Version(text(line, "version")),
							text(line, "contentType"), (Long) Objects.requireNonNull(line.get("size")),
							(Instant) line.get("expires"));
		});
	}

	private Flux<Map<String, @Nullable Object>> lines(String operation, Range range, boolean withValues) {
		return this.connections.observedStream(operation, Flux.defer(() -> {
			RangeRead read = new RangeRead(this.connections.transport(), range, withValues,
					lineBytes(this.connections.maxValueSize()), this.connections.rangeSilence());
			BiFunction<Node, Duration, Flux<Map<String, @Nullable Object>>> part = read::from;
			return this.connections.calls().stream(part, read::passed);
		}));
	}

	/** The most bytes of a line, with a value in Base64. */
	private static int lineBytes(int maxValueSize) {
		return (int) Math.min(maxValueSize / 3L * 4 + LINE_BYTES, Integer.MAX_VALUE - 8);
	}

	private static String text(Map<String, @Nullable Object> line, String name) {
		return Objects.requireNonNull(line.get(name), name).toString();
	}

	/**
	 * The same for threads that may block.
	 * @return the operations of this, each of which waits for its end
	 */
	public BlockingEntities<T> blocking() {
		return new BlockingEntities<>(this);
	}

}
