package io.kvorum.gatling;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

import io.kvorum.gatling.Settings.Replicas;

/**
 * Puts keys before the users arrive, with a client of its own: that is in none of the
 * figures.
 */
final class Loader {

	private static final int MAX_IN_FLIGHT = 32;

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final Settings settings;

	private final Values values;

	private final Semaphore permits = new Semaphore(MAX_IN_FLIGHT);

	private final Queue<String> failures = new ConcurrentLinkedQueue<>();

	Loader(Settings settings) {
		this.settings = settings;
		this.values = new Values(settings);
	}

	/**
	 * Returns when all keys of the set are there, on all replicas that were asked for.
	 * @throws CannotRunException where one is not
	 */
	void load(KeySet set) {
		try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
			for (int number = 0; number < this.settings.keys() && this.failures.isEmpty(); number++) {
				this.permits.acquireUninterruptibly();
				HttpRequest put = put(set.key(number), number);
				client.sendAsync(put, BodyHandlers.ofString())
					.whenComplete((response, failure) -> record(put, response, failure));
			}
			this.permits.acquireUninterruptibly(MAX_IN_FLIGHT);
			this.permits.release(MAX_IN_FLIGHT);
		}
		if (!this.failures.isEmpty()) {
			throw new CannotRunException("loading keys: " + this.failures.peek());
		}
	}

	private HttpRequest put(String key, int number) {
		String node = this.settings.nodes().get(number % this.settings.nodes().size());
		String replicas = this.settings.replicas().map(Replicas::all).map(all -> "&replicas=" + all).orElse("");
		URI uri = URI.create(node + Entities.PATH + "?id=" + URLEncoder.encode(key, StandardCharsets.UTF_8) + replicas);
		return HttpRequest.newBuilder(uri)
			.timeout(TIMEOUT)
			.PUT(BodyPublishers.ofByteArray(this.values.of(key, 0)))
			.build();
	}

	private void record(HttpRequest put, HttpResponse<String> response, Throwable failure) {
		if (failure != null) {
			this.failures
				.add("no answer to PUT " + put.uri() + ": " + Objects.requireNonNullElse(failure.getCause(), failure));
		}
		else if (response.statusCode() != 201) {
			this.failures.add("PUT " + put.uri() + ": " + response.statusCode() + " " + response.body());
		}
		this.permits.release();
	}

}
