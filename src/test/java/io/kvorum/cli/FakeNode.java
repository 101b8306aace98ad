package io.kvorum.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/** A node that gives each request the answer that a test has set. */
final class FakeNode implements AutoCloseable {

	private final HttpServer server;

	private final List<String> requests = new CopyOnWriteArrayList<>();

	private volatile Answer answer = new Answer(200, "", Map.of());

	private final Map<String, Answer> answers = new ConcurrentHashMap<>();

	private volatile boolean isNode = true;

	private final CountDownLatch closed = new CountDownLatch(1);

	private volatile boolean stays;

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
		this.answer = new Answer(status, body, headers);
	}

	/** Answers requests in their own way of this path, or whose target ends with this. */
	void answersAt(String end, int status, String body, Map<String, String> headers) {
		this.answers.put(end, new Answer(status, body, headers));
	}

	/** Answers without what tells a node from other servers. */
	void isNoNode() {
		this.isNode = false;
	}

	/** Ends no body: it goes on when the node is closed. */
	void endsNoBody() {
		this.missing = 1;
		this.stays = true;
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
		String path = exchange.getRequestURI().getPath();
		Answer answer = this.answers.entrySet()
			.stream()
			.filter(it -> path.equals(it.getKey()) || exchange.getRequestURI().toString().endsWith(it.getKey()))
			.map(Map.Entry::getValue)
			.findFirst()
			.orElse(this.answer);
		if (this.isNode && path.startsWith("/v0/entit")) {
			exchange.getResponseHeaders()
				.set(path.equals("/v0/entity") ? "Kvorum-Consistency" : "Content-Type",
						path.equals("/v0/entity") ? "linearizable" : "application/x-ndjson");
		}
		answer.headers.forEach(exchange.getResponseHeaders()::set);
		byte[] bytes = answer.body.getBytes(StandardCharsets.UTF_8);
		boolean hasBody = bytes.length > 0 && !exchange.getRequestMethod().equals("HEAD");
		exchange.sendResponseHeaders(answer.status, hasBody ? bytes.length + this.missing : -1);
		if (hasBody) {
			exchange.getResponseBody().write(bytes);
			exchange.getResponseBody().flush();
			awaitClose();
		}
		exchange.close();
	}

	private void awaitClose() {
		try {
			if (this.stays) {
				this.closed.await();
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.closed.countDown();
		this.server.stop(0);
	}

	private record Answer(int status, String body, Map<String, String> headers) {
	}

}
