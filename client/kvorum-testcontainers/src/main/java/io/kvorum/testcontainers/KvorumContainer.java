package io.kvorum.testcontainers;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.rnorth.ducttape.ratelimits.RateLimiterBuilder;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.HttpWaitStrategy;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * One Kvorum node in a container. It has started when it is ready for clients. Its data
 * end with the container.
 *
 * <pre>{@code
 * try (KvorumContainer kvorum = new KvorumContainer("kvorum:0.1.0")) {
 *     kvorum.start();
 *     KvorumClient client = KvorumClient.builder(List.of(kvorum.getUrl())).build();
 * }
 * }</pre>
 *
 * Supported image: {@code kvorum}, or one that is declared a substitute of it. Exposed
 * port: 8080, the API.
 */
public class KvorumContainer extends GenericContainer<KvorumContainer> {

	/** The port of the API and of health. */
	static final int API_PORT = 8080;

	/** Far beyond what is usual. A start takes a machine of two cores some seconds. */
	private static final Duration START_TIMEOUT = Duration.ofMinutes(2);

	private static final DockerImageName IMAGE = DockerImageName.parse("kvorum");

	private static final String KEYS_FILE = "/kvorum/keys.json";

	private static final Pattern API_KEY = Pattern.compile("([A-Za-z0-9_-]{1,64})\\.([A-Za-z0-9_-]{43})");

	private static final Pattern PROPERTY = Pattern.compile("[A-Za-z][A-Za-z0-9-]*(\\.[A-Za-z0-9-]+|\\[[0-9]+])*");

	private @Nullable String apiKey;

	/**
	 * A node of an image.
	 * @param image for instance {@code kvorum:0.1.0}
	 */
	public KvorumContainer(String image) {
		this(DockerImageName.parse(image));
	}

	/**
	 * A node of an image.
	 * @param image for instance {@code kvorum:0.1.0}; one of another name is declared by
	 * {@link DockerImageName#asCompatibleSubstituteFor(String)
	 * asCompatibleSubstituteFor("kvorum")}
	 */
	@SuppressWarnings("this-escape") // as all containers of Testcontainers
	public KvorumContainer(DockerImageName image) {
		super(image);
		image.assertCompatibleWith(IMAGE);
		withExposedPorts(API_PORT);
		waitingFor(health("/actuator/health/readiness"));
	}

	/**
	 * Asks ten times a second instead of once: often the first answer is the right one.
	 */
	static HttpWaitStrategy health(String path) {
		HttpWaitStrategy health = Wait.forHttp(path).forPort(API_PORT);
		health.withRateLimiter(
				RateLimiterBuilder.newBuilder().withRate(10, TimeUnit.SECONDS).withConstantThroughput().build());
		health.withStartupTimeout(START_TIMEOUT);
		return health;
	}

	/**
	 * Sets a property of Kvorum or of Spring Boot, as an environment variable. Variables
	 * cannot name keys of a map that have upper case or hyphens.
	 * @param name for instance {@code kvorum.storage.durability}
	 * @param value the value, also in place of an earlier one
	 * @return this
	 */
	public KvorumContainer withProperty(String name, String value) {
		if (!PROPERTY.matcher(name).matches()) {
			throw new IllegalArgumentException(
					"'%s' is no name of a property, such as kvorum.storage.durability".formatted(name));
		}
		if (isReserved(name)) {
			throw new IllegalArgumentException(name + " is set by the container");
		}
		return withEnv(name.replace("-", "").replace("]", "").replaceAll("[.\\[]", "_").toUpperCase(Locale.ROOT),
				value);
	}

	/** Whether the container would not be reached with another value. */
	boolean isReserved(String property) {
		return property.equals("server.port") || property.equals("management.server.port");
	}

	/**
	 * Lets only requests with this API key in. It has all rights. The command
	 * {@code kvorum} in the container uses it, too.
	 * @param key {@code <id>.<secret>} as {@code new-api-key} prints it: an id of 1 to 64
	 * and a secret of 43 letters, digits, hyphens and underscores
	 * @return this
	 */
	public KvorumContainer withApiKey(String key) {
		Matcher matcher = API_KEY.matcher(key);
		if (!matcher.matches()) {
			throw new IllegalArgumentException("An API key is <id>.<secret>, with a secret of 43 characters");
		}
		this.apiKey = key;
		withEnv("KVORUM_API_KEY", key);
		withProperty("kvorum.access.keys-file", KEYS_FILE);
		return withCopyToContainer(Transferable.of(keysFile(matcher.group(1), matcher.group(2))), KEYS_FILE);
	}

	static String keysFile(String id, String secret) {
		return """
				{"keys": [{"id": "%s", "sha256": "%s", "actuator": ["metrics", "operate"],
				  "rules": [{"prefix": "", "rights": ["read", "write", "delete", "range"]}]}]}
				""".formatted(id, sha256(secret));
	}

	private static String sha256(String text) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
			return HexFormat.of().formatHex(hash);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Each Java has SHA-256", ex);
		}
	}

	/**
	 * The API key of {@link #withApiKey}.
	 * @return null if requests need none
	 */
	public @Nullable String getApiKey() {
		return this.apiKey;
	}

	/**
	 * Where clients call the node.
	 * @return {@code http://host:port}
	 * @throws IllegalStateException if the container has not been started
	 */
	public URI getUrl() {
		return url(getMappedPort(API_PORT));
	}

	/**
	 * Where clients call the cluster that the node belongs to.
	 * @return the URLs of all its nodes; only that of this one if it is alone
	 * @throws IllegalStateException if the container has not been started
	 */
	public List<URI> getUrls() {
		return List.of(getUrl());
	}

	URI url(int port) {
		return URI.create("http://%s:%d".formatted(getHost(), port));
	}

}
