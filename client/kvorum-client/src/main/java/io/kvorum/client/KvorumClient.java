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
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
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

	private KvorumClient(Connections connections, ConnectionProvider pool) {
		this.connections = connections;
		this.pool = pool;
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
		return new Entities<>(this.connections, codec);
	}

	/** Closes its connections. Operations under way fail. */
	@Override
	public void close() {
		this.pool.dispose();
	}

	/** Makes a client. */
	public static final class Builder {

		private static final int MAX_CONNECTIONS = 256;

		/** Less than {@code kvorum.api.idle-timeout}, which is 60 s. */
		private static final Duration MAX_IDLE = Duration.ofSeconds(30);

		private static final int KIB = 1024;

		private final List<URI> urls;

		private Supplier<@Nullable String> apiKey = () -> null;

		private Duration deadline = Duration.ofSeconds(10);

		private Duration attemptTimeout = Duration.ofSeconds(3);

		private Duration connectTimeout = Duration.ofSeconds(1);

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
			if (url.getHost() == null || url.getQuery() != null || !List.of("http", "https").contains(url.getScheme())
					|| (path != null && !path.isEmpty() && !path.equals("/"))) {
				throw new IllegalArgumentException(
						"the URL of a node is http://host:port or https://host:port, not " + url);
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
		 * The API key, asked for before each request: for keys that change.
		 * @param key must not block; null for none
		 * @return this
		 */
		public Builder apiKey(Supplier<@Nullable String> key) {
			this.apiKey = key;
			return this;
		}

		/**
		 * The longest time of an operation with all its repeats: 10 s. Of a range it is
		 * the longest time in which nothing comes.
		 * @param deadline the time
		 * @return this
		 */
		public Builder deadline(Duration deadline) {
			this.deadline = positive("deadline", deadline);
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
			this.attemptTimeout = positive("attemptTimeout", timeout);
			return this;
		}

		/**
		 * The longest time in which a connection is made: 1 s.
		 * @param timeout the time
		 * @return this
		 */
		public Builder connectTimeout(Duration timeout) {
			this.connectTimeout = positive("connectTimeout", timeout);
			return this;
		}

		/**
		 * The most requests of an operation: 10. With 1 nothing is repeated.
		 * @param attempts the number
		 * @return this
		 */
		public Builder maxAttempts(int attempts) {
			this.maxAttempts = positive("maxAttempts", attempts);
			return this;
		}

		/**
		 * The largest value that is read: 1 MiB, as {@code kvorum.api.max-value-size}.
		 * @param bytes the size
		 * @return this
		 */
		public Builder maxValueSize(int bytes) {
			this.maxValueSize = positive("maxValueSize", bytes);
			return this;
		}

		/**
		 * The most connections to each node: 256. More requests wait, up to four times as
		 * many.
		 * @param connections the number
		 * @return this
		 */
		public Builder maxConnections(int connections) {
			this.maxConnections = positive("maxConnections", connections);
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
		 * Changes the client of reactor-netty, for TLS or a proxy for instance. Whatever
		 * it says, requests are not repeated below this client, which would not know.
		 * @param change the change
		 * @return this
		 */
		public Builder httpClient(UnaryOperator<HttpClient> change) {
			this.httpClient = change;
			return this;
		}

		/**
		 * Changes the builder of the {@link WebClient} by which requests are sent, for
		 * filters for instance.
		 * @param change the change; the connector is replaced afterwards
		 * @return this
		 */
		public Builder webClient(Consumer<WebClient.Builder> change) {
			this.webClient = change;
			return this;
		}

		private static Duration positive(String name, Duration duration) {
			if (duration.isNegative() || duration.isZero()) {
				throw new IllegalArgumentException(name + " is more than 0, not " + duration);
			}
			return duration;
		}

		private static int positive(String name, int number) {
			if (number < 1) {
				throw new IllegalArgumentException(name + " is at least 1, not " + number);
			}
			return number;
		}

		/**
		 * Makes the client. Connections are made when they are needed.
		 * @return the client; to be closed in the end
		 */
		public KvorumClient build() {
			ConnectionProvider pool = ConnectionProvider.builder("kvorum-client")
				.maxConnections(this.maxConnections)
				.pendingAcquireMaxCount(4 * this.maxConnections)
				.pendingAcquireTimeout(this.attemptTimeout)
				.maxIdleTime(MAX_IDLE)
				.lifo()
				.build();
			HttpClient http = this.httpClient
				.apply(HttpClient.create(pool)
					.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(this.connectTimeout.toMillis())))
				.disableRetry(true);
			WebClient.Builder builder = WebClient.builder()
				.observationRegistry(this.observations)
				.codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(this.maxValueSize));
			this.webClient.accept(builder);
			Transport transport = new Transport(builder.clientConnector(new ReactorClientHttpConnector(http)).build(),
					this.apiKey);
			Nodes nodes = new Nodes(this.urls, System::nanoTime, bound -> ThreadLocalRandom.current().nextInt(bound));
			Calls calls = new Calls(transport, nodes,
					new Calls.Limits(this.deadline, this.attemptTimeout, this.maxAttempts));
			return new KvorumClient(new Connections(calls, transport, this.observations, this.maxValueSize), pool);
		}

	}

}
