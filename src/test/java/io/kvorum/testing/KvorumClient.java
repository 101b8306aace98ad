package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A client of the public API. It never repeats a write; a connection that breaks is an
 * {@link UncheckedIOException}.
 */
public final class KvorumClient {

	/** Far beyond any deadline of the server: a request that meets it was forgotten. */
	private static final Duration FORGOTTEN = Duration.ofSeconds(30);

	private static final HttpClient HTTP = HttpClient.newBuilder()
		.version(HttpClient.Version.HTTP_1_1)
		.connectTimeout(FORGOTTEN)
		.build();

	private final String base;

	private final Duration patience;

	public KvorumClient(int port) {
		this("http://127.0.0.1:" + port, FORGOTTEN);
	}

	private KvorumClient(String base, Duration patience) {
		this.base = base;
		this.patience = patience;
	}

	/** A client of another machine, {@code http://host:port}. */
	public static KvorumClient at(String base) {
		return new KvorumClient(base, FORGOTTEN);
	}

	/** The same client; a request that takes longer is given up as if it broke. */
	public KvorumClient withPatience(Duration patience) {
		return new KvorumClient(this.base, patience);
	}

	public Answer get(String key, String... parameters) {
		return exchange("GET", entity(key, parameters));
	}

	public Answer head(String key, String... parameters) {
		return exchange("HEAD", entity(key, parameters));
	}

	public Answer delete(String key, String... parameters) {
		return exchange("DELETE", entity(key, parameters));
	}

	public Answer put(String key, byte[] value, String... parameters) {
		return exchange("PUT", entity(key, parameters), BodyPublishers.ofByteArray(value));
	}

	public Answer put(String key, String value, String... parameters) {
		return put(key, value.getBytes(StandardCharsets.UTF_8), parameters);
	}

	public Answer putAs(String contentType, String key, byte[] value, String... parameters) {
		return exchange("PUT", entity(key, parameters), BodyPublishers.ofByteArray(value), "Content-Type", contentType);
	}

	/** With headers, each a name and a value. */
	public Answer putWith(String key, String value, String... headers) {
		return exchange("PUT", entity(key), BodyPublishers.ofString(value), headers);
	}

	/** With headers, each a name and a value. */
	public Answer deleteWith(String key, String... headers) {
		return exchange("DELETE", entity(key), headers);
	}

	/** Without a Content-Length. */
	public Answer putChunked(String key, byte[] value) {
		return exchange("PUT", entity(key), BodyPublishers.fromPublisher(BodyPublishers.ofByteArray(value)));
	}

	/** Posts JSON. */
	public Answer post(String target, String json) {
		return exchange("POST", target, BodyPublishers.ofString(json), "Content-Type", "application/json");
	}

	/** Any request; {@code target} is the path and query as they are to be sent. */
	public Answer exchange(String method, String target, String... headers) {
		return exchange(method, target, BodyPublishers.noBody(), headers);
	}

	private Answer exchange(String method, String target, BodyPublisher body, String... headers) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(this.base + target))
			.timeout(this.patience)
			.method(method, body);
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		try {
			HttpResponse<byte[]> response = HTTP.send(request.build(), BodyHandlers.ofByteArray());
			return new Answer(response.statusCode(), response.headers(), response.body());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	boolean isReady() {
		return isOk("/actuator/health/readiness");
	}

	boolean isAnswering() {
		return isOk("/v0/status");
	}

	/** Whether it answers, with 200. */
	public boolean isOk(String target) {
		try {
			return exchange("GET", target).status() == 200;
		}
		catch (UncheckedIOException ex) {
			return false;
		}
	}

	/**
	 * The sum of all samples of a metric as Prometheus reads it, or the one sample with
	 * these tags, {@code name{tag="value"}}; 0 where there are none.
	 */
	public double metric(String name) {
		return exchange("GET", "/actuator/prometheus").text()
			.lines()
			.filter((line) -> line.startsWith(name + " ") || line.startsWith(name + "{"))
			.mapToDouble((line) -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
			.sum();
	}

	/**
	 * The target of a request for a key; parameters are sent as they are,
	 * {@code "ttl=1s"}.
	 */
	public static String entity(String key, String... parameters) {
		StringBuilder target = new StringBuilder("/v0/entity?id=")
			.append(URLEncoder.encode(key, StandardCharsets.UTF_8));
		for (String parameter : parameters) {
			target.append('&').append(parameter);
		}
		return target.toString();
	}

}
