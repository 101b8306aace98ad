package io.kvorum.client.it;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.kvorum.client.Codec;
import io.kvorum.client.KvorumClient;
import io.kvorum.test.KvorumExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("What a client is told by nodes that have room for one write at a time")
class OverloadIT {

	private static final int THREADS = 48;

	private static final int SECONDS = 5;

	private static final Pattern REFUSED = Pattern.compile("(?m)^kvorum_storage_overloaded_total(?:\\{.*})? (\\S+)$");

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(3).property("kvorum.storage.write-queue-length", "1");

	@Test
	@DisplayName("linearizable, and as soon as there is room all goes on")
	void refused() throws InterruptedException, IOException {
		try (KvorumClient client = KvorumClient.builder(kvorum.urls()).build()) {
			Workers workers = new Workers(client, THREADS, options -> options);
			boolean never = new CountDownLatch(1).await(SECONDS, TimeUnit.SECONDS);
			assertThat(never).isFalse();
			workers.stop();
			double refused = 0;
			for (URI url : kvorum.urls()) {
				refused += refused(url);
			}
			System.out.printf("  %s; the nodes refused %.0f writes%n", workers, refused);
			assertThat(refused).isPositive();
			assertThat(workers.errors()).isEmpty();
			assertThat(workers.violations()).isEmpty();

			assertThat(client.entities(Codec.text()).blocking().put("afterwards", "there is room")).isNotNull();
		}
	}

	private static double refused(URI node) throws IOException, InterruptedException {
		String meters = HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(node.resolve("/actuator/prometheus")).build(), BodyHandlers.ofString())
			.body();
		return REFUSED.matcher(meters)
			.results()
			.map((MatchResult line) -> line.group(1))
			.mapToDouble(Double::parseDouble)
			.sum();
	}

}
