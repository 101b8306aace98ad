package io.kvorum.test;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** What a node says about itself at {@code /actuator/health}. */
final class Health {

	/** A paused node never answers. */
	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final int OK = 200;

	private static final HttpClient CLIENT = HttpClient.newBuilder()
		.version(Version.HTTP_1_1)
		.proxy(HttpClient.Builder.NO_PROXY)
		.connectTimeout(TIMEOUT)
		.build();

	private final URI node;

	Health(URI node) {
		this.node = node;
	}

	boolean isReady() {
		return isOk("/actuator/health/readiness");
	}

	/** Whether the node has become equal to its peers once, and they have reached it. */
	boolean hasJoined() {
		return isOk("/actuator/health/joined");
	}

	/**
	 * Whether the node has connections to these peers. With API keys nodes keep that for
	 * themselves, and the answer is true.
	 */
	boolean isConnectedTo(List<String> addresses) {
		HttpResponse<String> answer = get("/actuator/health");
		if (answer == null) {
			return false;
		}
		String health = answer.body();
		return !health.contains("\"peers\"")
				|| addresses.stream().allMatch((address) -> health.contains("\"%s\":\"there\"".formatted(address)));
	}

	/** The health in full, for messages. */
	String text() {
		HttpResponse<String> answer = get("/actuator/health");
		return (answer != null) ? answer.body() : "no answer";
	}

	private boolean isOk(String path) {
		HttpResponse<String> answer = get(path);
		return answer != null && answer.statusCode() == OK;
	}

	private @Nullable HttpResponse<String> get(String path) {
		try {
			HttpRequest request = HttpRequest.newBuilder(this.node.resolve(path)).timeout(TIMEOUT).build();
			return CLIENT.send(request, BodyHandlers.ofString());
		}
		catch (IOException ex) {
			return null;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while asking " + this.node, ex);
		}
	}

}
