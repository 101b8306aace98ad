package io.kvorum.node;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

import javax.net.ssl.SSLContext;

import io.kvorum.testing.ApiKeys;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A client of one node. */
final class NodeClient {

	private final HttpClient client;

	private final URI node;

	private final String key;

	NodeClient(int port) {
		this(port, "");
	}

	/** One that comes with this key of {@link ApiKeys}; with none where it is empty. */
	NodeClient(int port, String key) {
		this.client = HttpClient.newHttpClient();
		this.node = URI.create("http://localhost:" + port);
		this.key = key;
	}

	/** By HTTPS, and HTTP/2 where the node would have it. */
	NodeClient(int port, SSLContext tls) {
		this.client = HttpClient.newBuilder().sslContext(tls).version(HttpClient.Version.HTTP_2).build();
		this.node = URI.create("https://localhost:" + port);
		this.key = "";
	}

	HttpResponse<byte[]> send(String method, String path) throws IOException, InterruptedException {
		return send(method, path, new byte[0]);
	}

	HttpResponse<byte[]> send(String method, String path, byte[] body) throws IOException, InterruptedException {
		HttpRequest.Builder request = HttpRequest.newBuilder(this.node.resolve(path))
			.method(method, (body.length > 0) ? BodyPublishers.ofByteArray(body) : BodyPublishers.noBody());
		if (!this.key.isEmpty()) {
			request.header("Authorization", ApiKeys.bearer(this.key));
		}
		return this.client.send(request.build(), BodyHandlers.ofByteArray());
	}

	/**
	 * Sends a GET.
	 * @param headers names and values
	 */
	HttpResponse<byte[]> get(String path, String accept, String... headers) throws IOException, InterruptedException {
		HttpRequest.Builder request = HttpRequest.newBuilder(this.node.resolve(path)).header("Accept", accept);
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		return this.client.send(request.build(), BodyHandlers.ofByteArray());
	}

	JsonNode json(String path) throws IOException, InterruptedException {
		return JsonMapper.shared().readTree(send("GET", path).body());
	}

}
