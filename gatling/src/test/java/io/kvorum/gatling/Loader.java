package io.kvorum.gatling;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.gatling.Settings.Replicas;

/**
 * Puts keys before the users arrive, with a client of its own, so that no figure includes
 * them. A busy node, for example a starting one, is asked again.
 */
final class Loader {

	private static final int MAX_IN_FLIGHT = 16;

	private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);

	private static final Duration RETRY_FOR = Duration.ofSeconds(30);

	private static final Duration RETRY_AFTER = Duration.ofMillis(500);

	private final Settings settings;

	private final Values values;

	Loader(Settings settings) {
		this.settings = settings;
		this.values = new Values(settings);
	}

	/**
	 * Returns when all keys of the set are there, on all replicas that were asked for.
	 * @throws CannotRunException where one is not
	 */
	void load(KeySet set) {
		AtomicInteger next = new AtomicInteger();
		try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
				ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
			Callable<Void> some = () -> putSome(client, set, next);
			for (Future<Void> done : threads.invokeAll(Collections.nCopies(MAX_IN_FLIGHT, some))) {
				done.get();
			}
		}
		catch (ExecutionException ex) {
			throw new CannotRunException("loading keys: %s".formatted(ex.getCause().getMessage()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new CannotRunException("loading keys was interrupted");
		}
	}

	/** Puts keys until none is left; its failure ends the other threads. */
	private Void putSome(HttpClient client, KeySet set, AtomicInteger next) throws IOException, InterruptedException {
		int number = next.getAndIncrement();
		while (number < this.settings.keys()) {
			try {
				put(client, request(set.key(number), number));
			}
			catch (IOException ex) {
				next.set(this.settings.keys());
				throw ex;
			}
			number = next.getAndIncrement();
		}
		return null;
	}

	private static void put(HttpClient client, HttpRequest put) throws IOException, InterruptedException {
		try {
			putUntilTaken(client, put);
		}
		catch (ConnectException ex) {
			throw new IOException("no connection to %s: is a node running there?".formatted(put.uri().getAuthority()));
		}
	}

	private static void putUntilTaken(HttpClient client, HttpRequest put) throws IOException, InterruptedException {
		Instant end = Instant.now().plus(RETRY_FOR);
		HttpResponse<String> response = client.send(put, BodyHandlers.ofString());
		while (isBusy(response) && Instant.now().isBefore(end)) {
			// A virtual thread of the loader, before any user arrives: no figure waits
			// with it.
			Thread.sleep(RETRY_AFTER);
			response = client.send(put, BodyHandlers.ofString());
		}
		if (response.statusCode() != 201) {
			throw new IOException("PUT %s: %d %s".formatted(put.uri(), response.statusCode(), response.body()));
		}
	}

	private static boolean isBusy(HttpResponse<String> response) {
		return response.statusCode() == 503 || response.statusCode() == 504;
	}

	private HttpRequest request(String key, int number) {
		String node = this.settings.nodes().get(number % this.settings.nodes().size());
		String replicas = this.settings.replicas().map(Replicas::all).map(all -> "&replicas=" + all).orElse("");
		URI uri = URI.create(node + Entities.PATH + "?id=" + URLEncoder.encode(key, StandardCharsets.UTF_8) + replicas);
		return HttpRequest.newBuilder(uri)
			.timeout(REQUEST_TIMEOUT)
			.PUT(BodyPublishers.ofByteArray(this.values.of(key, 0)))
			.build();
	}

}
