package io.kvorum.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/** A node that gives each request the answer that a test has set. */
final class FakeNode implements AutoCloseable {

	private final HttpServer server;

	private final List<String> requests = new CopyOnWriteArrayList<>();

	private volatile int status = 200;

	private volatile String body = "";

	private volatile Map<String, String> headers = Map.of();

	/** Bytes of each body that never come. */
	private volatile int missing;

	FakeNode() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	String url() {
		return "http://127.0.0.1:" + this.server.getAddress().getPort();
	}

	void answers(int status, String body) {
		answers(status, body, Map.of());
	}

	void answers(int status, String body, Map<String, String> headers) {
		this.status = status;
		this.body = body;
		this.headers = headers;
	}

	/** Has bodies break off. */
	void breaksOff() {
		this.missing = 1;
	}

	/** Method, target, the headers that matter here, and body of each request. */
	List<String> requests() {
		return this.requests;
	}

	private void answer(HttpExchange exchange) throws IOException {
		StringBuilder request = new StringBuilder(exchange.getRequestMethod()).append(' ')
			.append(exchange.getRequestURI());
		for (String name : List.of("Authorization", "If-Match", "If-None-Match", "Idempotency-Key", "Content-Type",
				"Accept")) {
			if (exchange.getRequestHeaders().containsKey(name)) {
				request.append('|').append(name).append(": ").append(exchange.getRequestHeaders().getFirst(name));
			}
		}
		String received = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
		this.requests.add(received.isEmpty() ? request.toString() : request + "|" + received);
		this.headers.forEach(exchange.getResponseHeaders()::set);
		byte[] bytes = this.body.getBytes(StandardCharsets.UTF_8);
		boolean hasBody = bytes.length > 0 && !exchange.getRequestMethod().equals("HEAD");
		exchange.sendResponseHeaders(this.status, hasBody ? bytes.length + this.missing : -1);
		if (hasBody) {
			exchange.getResponseBody().write(bytes);
		}
		exchange.close();
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

}
