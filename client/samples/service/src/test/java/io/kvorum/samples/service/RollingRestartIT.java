package io.kvorum.samples.service;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.boot.KvorumConnectionDetails;
import io.kvorum.client.Codec;
import io.kvorum.client.KvorumClient;
import io.kvorum.test.KvorumExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Two instances of the service, while each of three nodes is restarted")
@Timeout(240)
class RollingRestartIT {

	private static final int THREADS = 6;

	private static final int NODES = 3;

	private static final Duration BETWEEN = Duration.ofSeconds(2);

	/** The pause of a thread after its requests. */
	private static final Duration PAUSE = Duration.ofMillis(50);

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(NODES);

	private static final AtomicInteger running = new AtomicInteger();

	private static final AtomicInteger mostAtOnce = new AtomicInteger();

	private static final AtomicInteger runs = new AtomicInteger();

	private final HttpClient http = HttpClient.newHttpClient();

	private final Queue<String> failures = new ConcurrentLinkedQueue<>();

	private final AtomicInteger requests = new AtomicInteger();

	private final AtomicLong slowestMillis = new AtomicLong();

	private volatile boolean isOver;

	@Test
	@DisplayName("no request fails, no view and no order is lost, and the job runs in one of them at a time")
	void rollingRestart() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try (ConfigurableApplicationContext one = start(); ConfigurableApplicationContext two = start()) {
			List<Future<Integer>> loads = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				Load load = new Load(thread, url((thread % 2 == 0) ? one : two));
				loads.add(threads.submit(load::run));
			}
			for (int node = 1; node <= NODES; node++) {
				Thread.sleep(BETWEEN.toMillis());
				kvorum.node(node).restart();
			}
			Thread.sleep(BETWEEN.toMillis());
			this.isOver = true;
			int rounds = 0;
			for (Future<Integer> load : loads) {
				rounds += load.get();
			}
			System.out.printf(
					"%d requests in %d rounds, %d failed, the slowest took %d ms; %d runs of the job, at most %d at once%n",
					this.requests.get(), rounds, this.failures.size(), this.slowestMillis.get(), runs.get(),
					mostAtOnce.get());
			assertThat(this.failures).isEmpty();
			assertThat(rounds).isPositive();
			// Reading the count counts, too.
			assertThat(send(url(two), "POST", "/articles/tea/views", "")).isEqualTo(String.valueOf(rounds + 1));
			Orders unwatched = new Orders(one.getBean(KvorumClient.class), one.getBean(JsonMapper.class));
			assertThat(unwatched.amountOfAll().block()).isEqualTo(2L * rounds);
			assertThat(one.getBean(KvorumClient.class).entities(Codec.text()).blocking().get(ReportJob.KEY))
				.isPresent();
			assertThat(runs).hasPositiveValue();
			assertThat(mostAtOnce).hasValue(1);
		}
		finally {
			this.isOver = true;
			threads.shutdownNow();
		}
	}

	private static ConfigurableApplicationContext start() {
		return new SpringApplicationBuilder(OrderService.class, Nodes.class).run("--server.port=0",
				"--orders.report-interval=200ms");
	}

	private static String url(ConfigurableApplicationContext service) {
		return "http://localhost:" + service.getEnvironment().getRequiredProperty("local.server.port");
	}

	private String send(String url, String method, String path, String body) throws InterruptedException {
		this.requests.incrementAndGet();
		long start = System.nanoTime();
		HttpRequest request = HttpRequest.newBuilder(URI.create(url + path))
			.method(method, BodyPublishers.ofString(body))
			.header("Content-Type", "application/json")
			.timeout(Duration.ofSeconds(30))
			.build();
		try {
			HttpResponse<String> response = this.http.send(request, BodyHandlers.ofString());
			this.slowestMillis.accumulateAndGet(Duration.ofNanos(System.nanoTime() - start).toMillis(), Math::max);
			if (response.statusCode() / 100 != 2) {
				this.failures.add("%s %s: %d %s".formatted(method, path, response.statusCode(), response.body()));
			}
			return response.body();
		}
		catch (IOException ex) {
			this.failures.add("%s %s: %s".formatted(method, path, ex));
			return "";
		}
	}

	/** Requests of one thread. */
	private final class Load {

		private final int thread;

		private final String url;

		Load(int thread, String url) {
			this.thread = thread;
			this.url = url;
		}

		/** Returns how many times each request was sent. */
		int run() throws InterruptedException {
			int rounds = 0;
			while (!RollingRestartIT.this.isOver) {
				String order = "/articles/tea/orders/%d-%d".formatted(this.thread, rounds);
				String json = "{\"customer\":\"customer-%d\",\"amount\":2}".formatted(rounds);
				send(this.url, "PUT", order, json);
				expect(order, json, send(this.url, "GET", order, ""));
				send(this.url, "POST", "/articles/tea/views", "");
				send(this.url, "GET", "/articles/tea/amount", "");
				rounds++;
				// A rate has no event to wait for. Without one the nodes start slowly.
				Thread.sleep(PAUSE.toMillis());
			}
			return rounds;
		}

		private void expect(String path, String expected, String actual) {
			if (!expected.equals(actual)) {
				RollingRestartIT.this.failures.add("%s: not %s but %s".formatted(path, expected, actual));
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Nodes {

		@Bean
		KvorumConnectionDetails kvorumConnectionDetails() {
			return kvorum::urls;
		}

		@Bean
		@Primary
		WatchedOrders watchedOrders(KvorumClient client, JsonMapper mapper) {
			return new WatchedOrders(client, mapper);
		}

	}

	/** Sees the job, which alone asks for the amount of all. */
	static class WatchedOrders extends Orders {

		WatchedOrders(KvorumClient client, JsonMapper mapper) {
			super(client, mapper);
		}

		@Override
		Mono<Long> amountOfAll() {
			return Mono.defer(() -> {
				runs.incrementAndGet();
				mostAtOnce.accumulateAndGet(running.incrementAndGet(), Math::max);
				return super.amountOfAll().delayElement(Duration.ofMillis(100));
			}).doOnTerminate(running::decrementAndGet);
		}

	}

}
