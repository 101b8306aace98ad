package io.kvorum.client;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.micrometer.observation.ObservationRegistry;
import io.netty.channel.ChannelOption;
import org.jspecify.annotations.Nullable;
import org.springframework.http.client.reactive.ClientHttpConnector;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.ExchangeFunctions;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * A client of a cluster, to be shared by all who use it. It has connections to all nodes
 * that it knows, asks the one that is least busy, and goes on at another one when that
 * fails.
 *
 * <pre>{@code
 * KvorumClient client = KvorumClient.builder("http://kvorum-0:8080", "http://kvorum-1:8080").build();
 * Entities<String> texts = client.entities(Codec.text());
 * texts.put("greeting", "hello").then(texts.get("greeting")).map(Entity::value)
 * }</pre>
 *
 * It has no threads of its own: requests are sent and answered by the event loops of
 * reactor-netty, and pauses end on Reactor's parallel scheduler.
 */
public final class KvorumClient implements AutoCloseable {

	private final Connections connections;

	private final ConnectionProvider pool;

	private final List<URI> urls;

	private KvorumClient(Connections connections, ConnectionProvider pool, List<URI> urls) {
		this.connections = connections;
		this.pool = pool;
		this.urls = urls;
	}

	/**
	 * Begins to make a client.
	 * @param urls of nodes, {@code http://host:port}; any of them answers for any key
	 * @return a builder
	 */
	public static Builder builder(String... urls) {
		return new Builder(Stream.of(urls).map(URI::create).toList());
	}

	/**
	 * Begins to make a client.
	 * @param urls of nodes, {@code http://host:port}; any of them answers for any key
	 * @return a builder
	 */
	public static Builder builder(List<URI> urls) {
		return new Builder(urls);
	}

	/**
	 * Values as bytes.
	 * @return the operations
	 */
	public Entities<byte[]> entities() {
		return entities(Codec.bytes());
	}

	/**
	 * Values of a type. All of one client share its connections.
	 * @param <T> the type
	 * @param codec how they are stored
	 * @return the operations
	 */
	public <T> Entities<T> entities(Codec<T> codec) {
		return new Entities<>(this.connections, new SafeCodec<>(codec));
	}

	/** Of operations that have no other one. */
	Duration deadline() {
		return this.connections.calls().deadline();
	}

	/**
	 * The nodes that it asks.
	 * @return their URLs
	 */
	public List<URI> urls() {
		return this.urls;
	}

	/**
	 * Closes its connections as soon as nothing is under way on them. Nothing is sent any
	 * more: operations that begin later fail, and those that would have to be repeated.
	 */
	@Override
	public void close() {
		this.connections.transport().close();
		this.pool.dispose();
	}

	/** Makes a client. */
	public static final class Builder {

		private static final int MAX_CONNECTIONS = 256;

		/** Less than {@code kvorum.api.idle-timeout}, which is 60 s. */
		private static final Duration MAX_IDLE = Duration.ofSeconds(30);

		private static final int KIB = 1024;

		/** Longer than the nodes' {@code kvorum.range.page-timeout}, which is 5 s. */
		private static final Duration RANGE_SILENCE = Duration.ofSeconds(6);

		private final List<URI> urls;

		private Supplier<@Nullable String> apiKey = () -> null;

		private Duration deadline = Duration.ofSeconds(10);

		private Duration attemptTimeout = Duration.ofSeconds(3);

		private Duration connectTimeout = Duration.ofSeconds(1);

		private Duration rangeSilence = RANGE_SILENCE;

		private int maxAttempts = 10;

		private int maxValueSize = 1024 * KIB;

		private int maxConnections = MAX_CONNECTIONS;

		private ObservationRegistry observations = ObservationRegistry.NOOP;

		private UnaryOperator<HttpClient> httpClient = UnaryOperator.identity();

		private Consumer<WebClient.Builder> webClient = builder -> {
		};

		private Builder(List<URI> urls) {
			if (urls.isEmpty()) {
				throw new IllegalArgumentException("a client needs at least one URL of a node");
			}
			this.urls = urls.stream().map(Builder::checked).toList();
		}

		private static URI checked(URI url) {
			String path = url.getPath();
			if (url.getHost() == null || url.getUserInfo() != null || url.getQuery() != null
					|| !List.of("http", "https").contains(url.getScheme())
					|| (path != null && !path.isEmpty() && !path.equals("/"))) {
				throw new IllegalArgumentException(
						"the URL of a node is http://host:port or https://host:port, not %s://%s:%d%s"
							.formatted(url.getScheme(), url.getHost(), url.getPort(), (path != null) ? path : ""));
			}
			return URI.create(url.getScheme() + "://" + url.getAuthority());
		}

		/**
		 * The API key of all requests.
		 * @param key as it was given out
		 * @return this
		 */
		public Builder apiKey(String key) {
			return apiKey(() -> key);
		}

		/**
		 * The API key, asked for before each operation: for keys that change. All repeats
		 * of a write have the same one, since nodes know its idempotency key by that.
		 * @param key must not block; null for none; what it throws ends the operation
		 * @return this
		 */
		public Builder apiKey(Supplier<@Nullable String> key) {
			this.apiKey = key;
			return this;
		}

		/**
		 * The longest time of an operation with all its repeats: 10 s. Of a range it is
		 * the longest time from a failure to the next value, and the longest in which
		 * nothing comes, if that is less than 6 s.
		 * @param deadline the time
		 * @return this
		 */
		public Builder deadline(Duration deadline) {
			this.deadline = Limits.positive("deadline", deadline);
			return this;
		}

		/**
		 * The longest time that a node has to answer: 3 s, which is longer than the
		 * nodes' {@code kvorum.replication.write-timeout}. After that a write may have
		 * happened.
		 * @param timeout the time
		 * @return this
		 */
		public Builder attemptTimeout(Duration timeout) {
			this.attemptTimeout = Limits.positive("attemptTimeout", timeout);
			return this;
		}

		/**
		 * The longest time in which a connection is made: 1 s.
		 * @param timeout the time
		 * @return this
		 */
		public Builder connectTimeout(Duration timeout) {
			this.connectTimeout = Limits.positive("connectTimeout", timeout);
			return this;
		}

		/**
		 * The longest time in which nothing comes of a range, after which it goes on at
		 * another node: 6 s. Nodes say nothing while they pass over keys that were
		 * deleted, some 400,000 a second, and wait for others as long as their
		 * {@code kvorum.range.page-timeout} says, 5 s.
		 * @param silence the time
		 * @return this
		 */
		public Builder rangeSilence(Duration silence) {
			this.rangeSilence = Limits.positive("rangeSilence", silence);
			return this;
		}

		/**
		 * The most requests of an operation: 10. With 1 nothing is repeated.
		 * @param attempts the number
		 * @return this
		 */
		public Builder maxAttempts(int attempts) {
			this.maxAttempts = Limits.positive("maxAttempts", attempts);
			return this;
		}

		/**
		 * The largest value that is read: 1 MiB, as {@code kvorum.api.max-value-size}.
		 * @param bytes the size
		 * @return this
		 */
		public Builder maxValueSize(int bytes) {
			this.maxValueSize = Limits.positive("maxValueSize", bytes);
			return this;
		}

		/**
		 * The most connections to each node: 256. More requests wait, up to four times as
		 * many.
		 * @param connections the number
		 * @return this
		 */
		public Builder maxConnections(int connections) {
			this.maxConnections = Limits.positive("maxConnections", connections);
			return this;
		}

		/**
		 * Where operations are observed, as {@code kvorum.client}, and each of their
		 * requests, as {@code http.client.requests}: nowhere.
		 * @param registry the registry
		 * @return this
		 */
		public Builder observationRegistry(ObservationRegistry registry) {
			this.observations = registry;
			return this;
		}

		/**
		 * Changes the client of reactor-netty, for TLS or a proxy for instance, after
		 * earlier changes. Whatever it says, requests are not repeated below this client,
		 * which would not know.
		 * @param change the change
		 * @return this
		 */
		public Builder httpClient(UnaryOperator<HttpClient> change) {
			UnaryOperator<HttpClient> before = this.httpClient;
			this.httpClient = http -> change.apply(before.apply(http));
			return this;
		}

		/**
		 * Changes the builder of the {@link WebClient} by which requests are sent, for
		 * filters for instance, after earlier changes. A filter must keep the context of
		 * Reactor, in which the client notes whether a request was sent: it returns what
		 * operators make of {@code next.exchange(request)}, and makes no future of it.
		 * Otherwise operations end in an {@link IllegalStateException}, and nothing is
		 * sent.
		 * @param change the change; the connector and the exchange function are replaced
		 * afterwards
		 * @return this
		 */
		public Builder webClient(Consumer<WebClient.Builder> change) {
			this.webClient = this.webClient.andThen(change);
			return this;
		}

		/**
		 * Makes the client. Connections are made when they are needed.
		 * @return the client; to be closed in the end
		 */
		public KvorumClient build() {
			ConnectionProvider pool = ConnectionProvider.builder("kvorum-client")
				.maxConnections(this.maxConnections)
				.pendingAcquireMaxCount(4 * this.maxConnections)
				// Before the request itself times out, which says less.
				.pendingAcquireTimeout(this.attemptTimeout.multipliedBy(3).dividedBy(4))
				.maxIdleTime(MAX_IDLE)
				.lifo()
				.build();
			HttpClient http = this.httpClient.apply(HttpClient.create(pool)
				.option(ChannelOption.CONNECT_TIMEOUT_MILLIS,
						// 0 would be none.
						Math.max(1, Math.toIntExact(this.connectTimeout.toMillis()))))
				.disableRetry(true)
				.doOnRequest((request, connection) -> Sending.begins(request.currentContextView(), connection));
			WebClient.Builder builder = WebClient.builder()
				.observationRegistry(this.observations)
				.observationConvention(new WithoutKeys());
			this.webClient.accept(builder);
			ClientHttpConnector connector = new ReactorClientHttpConnector(http);
			// Another exchange function would not say what was sent.
			builder.clientConnector(connector).exchangeFunction(ExchangeFunctions.create(connector));
			Transport transport = new Transport(builder.build(), this.apiKey, this.maxValueSize, this.maxConnections,
					this.attemptTimeout);
			Nodes nodes = new Nodes(this.urls, System::nanoTime, bound -> ThreadLocalRandom.current().nextInt(bound));
			Calls calls = new Calls(transport, nodes, new Limits(this.deadline, this.attemptTimeout, this.maxAttempts));
			return new KvorumClient(
					new Connections(calls, transport, this.observations, this.maxValueSize, this.rangeSilence), pool,
					this.urls);
		}

	}

}
