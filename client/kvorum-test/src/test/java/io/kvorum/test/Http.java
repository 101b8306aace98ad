package io.kvorum.test;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** What an application does. */
final class Http {

	private static final HttpClient CLIENT = HttpClient.newHttpClient();

	private static final Duration USUAL = Duration.ofSeconds(20);

	private Http() {
	}

	static int put(KvorumNode node, String key, String value) throws IOException, InterruptedException {
		HttpRequest request = HttpRequest.newBuilder(entity(node, key))
			.timeout(USUAL)
			.PUT(BodyPublishers.ofString(value))
			.build();
		return CLIENT.send(request, BodyHandlers.discarding()).statusCode();
	}

	static String get(KvorumNode node, String key) throws IOException, InterruptedException {
		return get(node, key, USUAL);
	}

	static String get(KvorumNode node, String key, Duration timeout) throws IOException, InterruptedException {
		HttpResponse<String> answer = CLIENT.send(HttpRequest.newBuilder(entity(node, key)).timeout(timeout).build(),
				BodyHandlers.ofString());
		return answer.body();
	}

	private static URI entity(KvorumNode node, String key) {
		return node.url().resolve("/v0/entity?id=" + key);
	}

}
