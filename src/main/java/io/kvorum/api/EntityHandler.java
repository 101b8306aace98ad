package io.kvorum.api;

import io.kvorum.access.ApiKey;
import io.kvorum.access.DeniedException;
import io.kvorum.access.Right;
import io.kvorum.api.BodyReader.Body;
import io.kvorum.clock.TimeSource;
import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.operation.Condition;
import io.kvorum.operation.ConditionNotMetException;
import io.kvorum.operation.IdempotencyKey;
import io.kvorum.operation.KeyValueStore;
import io.kvorum.operation.Newest;
import io.kvorum.operation.Operation;
import io.kvorum.operation.OperationFailedException;
import io.kvorum.operation.OperationObserver;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.operation.WriteOptions;
import io.kvorum.wire.HttpExchange;
import io.kvorum.wire.RequestBodyException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.netty.channel.AbortedException;

/**
 * Serves {@code /v0/entity}: one value in, one value out. This is the hot path: it uses
 * no annotations and no codecs. It changes threads only if memory does not have the
 * answer. A value of up to 16 KB with a declared length is copied once on its way in;
 * longer ones again as their memory grows. On the way out only the encoder copies, and
 * only short values.
 */
final class EntityHandler implements WebHandler {

	static final String PATH = "/v0/entity";

	private static final Logger logger = LoggerFactory.getLogger(EntityHandler.class);

	private static final String ALLOWED = "GET, HEAD, PUT, DELETE";

	private static final AsciiString CONSISTENCY = AsciiString.cached("Kvorum-Consistency");

	private static final AsciiString LINEARIZABLE = AsciiString.cached("linearizable");

	/**
	 * Makes a browser treat a page as one of no origin and without scripts. A value is
	 * what some user has stored, and must not act as the {@link ConsoleController} of
	 * another one.
	 */
	private static final AsciiString SANDBOX = AsciiString.cached("sandbox");

	private static final AsciiString CONTENT_TYPE_OPTIONS = AsciiString.cached("X-Content-Type-Options");

	private static final AsciiString NO_SNIFFING = AsciiString.cached("nosniff");

	/** All browsers say that they are this one. */
	private static final String BROWSER = "Mozilla/";

	private static final AsciiString EVENTUAL = AsciiString.cached("eventual");

	private static final String DEFAULT_CONTENT_TYPE = "application/octet-stream";

	private static final int MAX_CONTENT_TYPE_LENGTH = Entry.MAX_CONTENT_TYPE_BYTES;

	private final KeyValueStore store;

	private final AccessGate access;

	/**
	 * The memory of values on their way out. It is separate, so that clients that read
	 * slowly do not keep others from writing.
	 */
	private final InFlightBytes outgoing;

	private final BodyReader bodies;

	private final ProblemWriter problems;

	private final TimeSource time;

	private final RequestEvents events;

	private final RequestObservations observations;

	private final boolean isRetired;

	private final boolean takesOver;

	private final RetiredReads retired;

	EntityHandler(KeyValueStore store, AccessGate access, ApiSettings settings, ProblemWriter problems, TimeSource time,
			RequestEvents events, RequestObservations observations) {
		this.store = store;
		this.access = access;
		this.outgoing = new InFlightBytes(settings.maxInFlightBytes(), settings.maxValueBytes());
		this.bodies = new BodyReader(settings,
				new InFlightBytes(settings.maxInFlightBytes(), settings.maxValueBytes()));
		this.problems = problems;
		this.time = time;
		this.events = events;
		this.observations = observations;
		this.isRetired = settings.isRetired();
		this.takesOver = settings.takesOver();
		this.retired = new RetiredReads(store);
	}

	/** Answers a request that came through WebFlux. */
	@Override
	public Mono<Void> handle(ServerWebExchange exchange) {
		return handle(new SpringExchange(exchange));
	}

	Mono<Void> handle(HttpExchange exchange) {
		long started = this.time.nanos();
		ApiKey caller;
		try {
			caller = this.access.admit(exchange);
		}
		catch (DeniedException denied) {
			return this.access.refuse(exchange, denied).doFinally(signal -> count(exchange, signal, started));
		}
		// Only requests that are admitted are observed.
		RequestObservation observation = this.observations.begin(exchange, PATH);
		return answer(exchange, caller, observation.observer())
			.doFinally(signal -> observation.answered(count(exchange, signal, started)));
	}

	private Mono<Void> answer(HttpExchange exchange, ApiKey caller, OperationObserver observer) {
		Mono<Void> answer;
		try {
			answer = route(exchange, caller, observer);
		}
		catch (RuntimeException ex) {
			answer = Mono.error(ex);
		}
		return answer.onErrorResume(error -> explain(error, exchange));
	}

	private Mono<Void> route(HttpExchange exchange, ApiKey caller, OperationObserver observer) {
		if (this.isRetired && !Takeover.admits(exchange)) {
			return this.problems.write(exchange, Problem.RETIRED);
		}
		if (this.takesOver) {
			Takeover.mark(exchange);
		}
		return switch (exchange.method()) {
			case "GET" -> get(parse(exchange, caller, Right.READ), exchange, observer, true);
			case "HEAD" -> get(parse(exchange, caller, Right.READ), exchange, observer, false);
			case "PUT" -> put(parse(exchange, caller, Right.WRITE), caller, exchange, observer);
			case "DELETE" -> delete(parse(exchange, caller, Right.DELETE), caller, exchange, observer);
			default -> {
				exchange.set(HttpHeaderNames.ALLOW, ALLOWED);
				yield this.problems.write(exchange,
						Problem.methodNotAllowed("An entity takes the methods " + ALLOWED + "."));
			}
		};
	}

	/** Parses a request, and checks the right of the caller to the decoded key. */
	private EntityRequest parse(HttpExchange exchange, ApiKey caller, Right right) {
		EntityRequest request = EntityRequest.parse(exchange.rawQuery(), this.store.policy())
			.at(exchange.header(CONSISTENCY));
		caller.require(right, request.key());
		return request;
	}

	private Mono<Void> get(EntityRequest request, HttpExchange exchange, OperationObserver observer, boolean withBody) {
		Condition condition = RequestHeaders.readCondition(exchange);
		Mono<Live> read = this.isRetired
				? this.retired.read(request, observer)
					.doOnNext(newest -> Takeover.describe(newest, exchange))
					.mapNotNull(Newest::live)
				: this.store.get(request.key(), request.replicas(), request.timeout(), observer);
		return read.singleOptional()
			.flatMap(live -> live.isPresent() ? found(live.get(), condition, request, exchange, withBody)
					: notFound(request, exchange));
	}

	private Mono<Void> found(Live live, Condition condition, EntityRequest request, HttpExchange exchange,
			boolean withBody) {
		Version identity = live.identity();
		if (!condition.holdsFor(identity)) {
			consistency(request, exchange);
			return notMet(identity, exchange);
		}
		String etag = EntityTags.format(identity);
		if (RequestHeaders.isKnown(exchange, identity)) {
			exchange.status(304);
			describe(live, etag, request, exchange);
			return exchange.end();
		}
		int length = live.value().length();
		if (!withBody || length < InFlightBytes.LARGE_VALUE_BYTES) {
			return send(live, etag, request, exchange, withBody);
		}
		if (!this.outgoing.tryReserve(length, false)) {
			return Mono.error(this.outgoing.exhausted());
		}
		return Mono.defer(() -> send(live, etag, request, exchange, true))
			.doFinally(_ -> this.outgoing.release(length));
	}

	private Mono<Void> send(Live live, String etag, EntityRequest request, HttpExchange exchange, boolean withBody) {
		Value value = live.value();
		describe(live, etag, request, exchange);
		exchange.set(HttpHeaderNames.CONTENT_TYPE, live.contentType());
		exchange.set(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(value.length()));
		exchange.set(HttpHeaderNames.LAST_MODIFIED, HttpDate.format(live.identity().millis()));
		return withBody ? exchange.send(value.array(), value.offset(), value.length()) : exchange.end();
	}

	/**
	 * Sets what a cache keeps of an answer, and takes from a {@code 304} if it has the
	 * value already: that may have been fetched for another purpose than to be shown.
	 */
	private void describe(Live live, String etag, EntityRequest request, HttpExchange exchange) {
		head(request, exchange, etag);
		if (live.expires()) {
			exchange.set(HttpHeaderNames.EXPIRES, HttpDate.format(live.expiresAtMillis()));
		}
		noCache(exchange);
		if (isForABrowser(exchange)) {
			exchange.set(HttpHeaderNames.CONTENT_SECURITY_POLICY, SANDBOX);
			exchange.set(CONTENT_TYPE_OPTIONS, NO_SNIFFING);
		}
	}

	/**
	 * Whether a browser asks, which may show the value as a page, or in one: it does not
	 * always say for what.
	 */
	private static boolean isForABrowser(HttpExchange exchange) {
		String agent = exchange.header(HttpHeaderNames.USER_AGENT);
		String accept = exchange.header(HttpHeaderNames.ACCEPT);
		return (agent != null && agent.startsWith(BROWSER)) || (accept != null && accept.contains("text/html"));
	}

	private Mono<Void> notFound(EntityRequest request, HttpExchange exchange) {
		consistency(request, exchange);
		noCache(exchange);
		return this.problems.writeNotFound(exchange);
	}

	private Mono<Void> notMet(@Nullable Version current, HttpExchange exchange) {
		String etag = (current != null) ? EntityTags.format(current) : null;
		if (etag != null) {
			exchange.set(HttpHeaderNames.ETAG, etag);
		}
		return this.problems.write(exchange, Problem.preconditionFailed(etag));
	}

	private Mono<Void> put(EntityRequest request, ApiKey caller, HttpExchange exchange, OperationObserver observer) {
		WriteOptions options = options(request, caller, exchange);
		RequestHeaders.checkBody(exchange);
		String contentType = contentType(exchange);
		int declared = this.bodies.declaredBytes(exchange);
		// A body of unknown length is read first: the connection ends if such a body is
		// not read.
		OperationFailedException refused = (declared != BodyReader.UNDECLARED)
				? refuse(Operation.PUT, request, options, declared) : null;
		if (refused != null) {
			return this.problems.write(exchange, refused);
		}
		Body body = this.bodies.begin(exchange, declared);
		return body.value().flatMap(value -> {
			checkAgain(request, caller, exchange);
			return put(request, options, contentType, value, observer);
		}).flatMap(version -> done(201, request, exchange, version)).doFinally(_ -> body.release());
	}

	/** Refuses a write that is not possible any more, as the nodes have changed. */
	private void checkAgain(EntityRequest request, ApiKey caller, HttpExchange exchange) {
		if (!request.policy().equals(this.store.policy())) {
			options(parse(exchange, caller, Right.WRITE), caller, exchange);
		}
	}

	private WriteOptions options(EntityRequest request, ApiKey caller, HttpExchange exchange) {
		return new WriteOptions(request.replicas(), condition(request, caller, exchange),
				idempotencyKey(request, caller, exchange), request.timeout());
	}

	/**
	 * Reads the idempotency key of a write. Refuses it on an eventual write if the store
	 * orders by level: its transaction would not be ordered with that write.
	 */
	private @Nullable IdempotencyKey idempotencyKey(EntityRequest request, ApiKey caller, HttpExchange exchange) {
		IdempotencyKey name = RequestHeaders.idempotencyKey(exchange, caller);
		if (name != null) {
			ReplicationPolicy policy = request.policy();
			if (policy.ordersByLevel() && request.consistency() != Consistency.LINEARIZABLE) {
				throw new ProblemException(Problem.nameNeedsMajority(policy.defaults()));
			}
		}
		return name;
	}

	/**
	 * Reads the condition of a write. Its answer tells what is stored, so the caller
	 * needs the right to read that.
	 */
	private Condition condition(EntityRequest request, ApiKey caller, HttpExchange exchange) {
		Condition condition = RequestHeaders.writeCondition(exchange);
		if (!condition.isNone()) {
			caller.require(Right.READ, request.key());
			if (request.consistency() != Consistency.LINEARIZABLE) {
				throw new ProblemException(Problem.conditionNeedsMajority(request.policy().defaults()));
			}
		}
		return condition;
	}

	private Mono<Version> put(EntityRequest request, WriteOptions options, String contentType, Value value,
			OperationObserver observer) {
		// Again: reading takes time, and a body in chunks was not checked before.
		OperationFailedException refused = refuse(Operation.PUT, request, options, value.length());
		return (refused != null) ? Mono.error(refused)
				: this.store.put(request.key(), options, contentType, value, request.ttl(), observer);
	}

	/**
	 * Refuses a write for which this node has no room. A write with an idempotency key
	 * passes: it may repeat one that has happened, which only its record tells.
	 */
	private @Nullable OperationFailedException refuse(Operation operation, EntityRequest request, WriteOptions options,
			int valueBytes) {
		return (options.idempotencyKey() != null) ? null
				: this.store.refuseWrite(operation, request.key(), request.replicas(), valueBytes);
	}

	private static String contentType(HttpExchange exchange) {
		String contentType = exchange.header(HttpHeaderNames.CONTENT_TYPE);
		if (contentType == null || contentType.isEmpty()) {
			return DEFAULT_CONTENT_TYPE;
		}
		if (contentType.length() > MAX_CONTENT_TYPE_LENGTH) {
			throw ProblemException.badRequest(ProblemType.CONTENT_TYPE_TOO_LONG,
					"The Content-Type has %d characters, the limit is %d.".formatted(contentType.length(),
							MAX_CONTENT_TYPE_LENGTH));
		}
		return contentType;
	}

	private Mono<Void> delete(EntityRequest request, ApiKey caller, HttpExchange exchange, OperationObserver observer) {
		WriteOptions options = options(request, caller, exchange);
		OperationFailedException refused = refuse(Operation.DELETE, request, options, 0);
		if (refused != null) {
			return this.problems.write(exchange, refused);
		}
		return this.store.delete(request.key(), options, observer)
			.flatMap(version -> done(202, request, exchange, version));
	}

	private Mono<Void> done(int status, EntityRequest request, HttpExchange exchange, Version version) {
		exchange.status(status);
		head(request, exchange, EntityTags.format(version));
		exchange.set(HttpHeaderNames.CONTENT_LENGTH, HttpHeaderValues.ZERO);
		return exchange.end();
	}

	private void head(EntityRequest request, HttpExchange exchange, String etag) {
		consistency(request, exchange);
		exchange.set(HttpHeaderNames.ETAG, etag);
	}

	/**
	 * Makes a cache ask before it answers with a copy. Without this it may guess how long
	 * one is fresh (RFC 9111, section 4.2.2), and reads would go back.
	 */
	private static void noCache(HttpExchange exchange) {
		exchange.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_CACHE);
	}

	private void consistency(EntityRequest request, HttpExchange exchange) {
		exchange.set(CONSISTENCY, switch (request.consistencyUntil(this.store.policy())) {
			case LINEARIZABLE -> LINEARIZABLE;
			case EVENTUAL -> EVENTUAL;
		});
	}

	private Mono<Void> explain(Throwable error, HttpExchange exchange) {
		if (exchange.isCommitted()) {
			return Mono.error(error);
		}
		if (error instanceof OperationFailedException failed) {
			return this.problems.write(exchange, failed);
		}
		if (error instanceof ConditionNotMetException unmet) {
			// Only linearizable writes have a condition.
			exchange.set(CONSISTENCY, LINEARIZABLE);
			return notMet(unmet.current(), exchange);
		}
		if (error instanceof DeniedException denied) {
			return this.access.refuse(exchange, denied);
		}
		return this.problems.write(exchange, switch (error) {
			case ProblemException ex -> ex.problem();
			case AbortedException _ -> Problem.incompleteBody("The connection ended before the body did.");
			case RequestBodyException.TimedOut ex -> Problem.requestTimeout(ex.isStalled(), ex.limit());
			case RequestBodyException ex -> Problem.incompleteBody(String.valueOf(ex.getMessage()));
			default -> {
				logger.error("A request for an entity failed", error);
				yield Problem.internal();
			}
		});
	}

	/** Counts an answer; returns its status, 0 if the client went away before. */
	private int count(HttpExchange exchange, SignalType signal, long started) {
		int status = (signal != SignalType.CANCEL) ? exchange.status() : 0;
		this.events.answered(exchange.method(), status, this.time.nanos() - started);
		return status;
	}

}
