package io.kvorum.ycsb;

import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.apache.hc.client5.http.classic.methods.HttpDelete;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpPut;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.BasicHttpClientConnectionManager;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.util.Timeout;

/**
 * The HTTP API of one node, over one connection that blocks: on a machine that the client
 * shares with the nodes, threads that hand requests to each other would cost as much as
 * the answers. No request is repeated.
 */
final class Node implements AutoCloseable {

	private static final Timeout CONNECT_TIMEOUT = Timeout.ofSeconds(5);

	private final String url;

	private final String replicas;

	private final CloseableHttpClient client;

	/**
	 * A node.
	 * @param url {@code http://host:port}
	 * @param replicas {@code ack/from}; empty for the default of the node
	 * @param timeout of a pause of the node
	 */
	Node(String url, String replicas, Duration timeout) {
		this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
		this.replicas = replicas.isEmpty() ? "" : "&replicas=" + encoded(replicas);
		this.client = client(timeout);
	}

	private static CloseableHttpClient client(Duration timeout) {
		BasicHttpClientConnectionManager connection = new BasicHttpClientConnectionManager();
		connection.setConnectionConfig(ConnectionConfig.custom()
			.setConnectTimeout(CONNECT_TIMEOUT)
			.setSocketTimeout(Timeout.of(timeout))
			.build());
		return HttpClients.custom()
			.setConnectionManager(connection)
			.disableAutomaticRetries()
			.disableRedirectHandling()
			.disableContentCompression()
			.disableCookieManagement()
			.disableAuthCaching()
			.build();
	}

	Answer get(String key) throws IOException {
		return send(new HttpGet(entity(key)));
	}

	Answer put(String key, byte[] value) throws IOException {
		HttpPut request = new HttpPut(entity(key));
		request.setEntity(new ByteArrayEntity(value, ContentType.APPLICATION_OCTET_STREAM));
		return send(request);
	}

	Answer delete(String key) throws IOException {
		return send(new HttpDelete(entity(key)));
	}

	private String entity(String key) {
		return this.url + "/v0/entity?id=" + encoded(key) + this.replicas;
	}

	private Answer send(ClassicHttpRequest request) throws IOException {
		return this.client.execute(request, response -> {
			HttpEntity body = response.getEntity();
			return new Answer(response.getCode(), (body != null) ? EntityUtils.toByteArray(body) : new byte[0]);
		});
	}

	/**
	 * The entries from one key up to and without another one, as lines of JSON.
	 * @return the status
	 */
	int range(String start, String end, int limit, LinesReader reader) throws IOException {
		HttpGet request = new HttpGet(
				"%s/v0/entities?start=%s&end=%s&limit=%d".formatted(this.url, encoded(start), encoded(end), limit));
		request.setHeader("Accept", "application/x-ndjson");
		return this.client.execute(request, response -> {
			if (response.getCode() == 200) {
				reader.read(response.getEntity().getContent());
			}
			return response.getCode();
		});
	}

	private static String encoded(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8);
	}

	@Override
	public void close() throws IOException {
		this.client.close();
	}

	/** The answer to a request for one key. */
	record Answer(int status, byte[] body) {
	}

	/** Reads a range while it arrives. */
	interface LinesReader {

		void read(InputStream lines) throws IOException;

	}

}
