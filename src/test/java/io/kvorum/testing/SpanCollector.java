package io.kvorum.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/** Receives spans by OTLP over HTTP, as a collector of OpenTelemetry does. */
public final class SpanCollector implements AutoCloseable {

	private static final String PATH = "/v1/traces";

	private static final Duration DEADLINE = Duration.ofSeconds(30);

	private final HttpServer server;

	private final List<Span> spans = new CopyOnWriteArrayList<>();

	public SpanCollector() {
		try {
			this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server.createContext(PATH, this::receive);
		this.server.start();
	}

	/** As {@code management.opentelemetry.tracing.export.otlp.endpoint} has it. */
	public String endpoint() {
		return "http://127.0.0.1:" + this.server.getAddress().getPort() + PATH;
	}

	/** The spans of a trace, as soon as they are what is waited for. */
	public List<Span> await(String trace, Predicate<List<Span>> complete) throws InterruptedException {
		Poll.until(() -> "the spans of the trace are there: " + of(trace), DEADLINE, () -> complete.test(of(trace)));
		return of(trace);
	}

	private List<Span> of(String trace) {
		return this.spans.stream().filter(span -> span.trace().equals(trace)).toList();
	}

	/** All spans so far. */
	public List<Span> spans() {
		return List.copyOf(this.spans);
	}

	private void receive(HttpExchange exchange) throws IOException {
		try (exchange) {
			new ProtoMessage(exchange.getRequestBody().readAllBytes()).messages(1)
				.stream()
				.flatMap(resource -> resource.messages(2).stream())
				.flatMap(scope -> scope.messages(2).stream())
				.map(SpanCollector::span)
				.forEach(this.spans::add);
			exchange.sendResponseHeaders(200, -1);
		}
	}

	/** By the numbers of opentelemetry/proto/trace/v1/trace.proto. */
	private static Span span(ProtoMessage span) {
		HexFormat hex = HexFormat.of();
		return new Span(hex.formatHex(span.bytes(1)), hex.formatHex(span.bytes(2)), hex.formatHex(span.bytes(4)),
				span.text(5), attributes(span.messages(9)),
				span.messages(15).stream().anyMatch(status -> status.number(3) == 2));
	}

	private static Map<String, String> attributes(List<ProtoMessage> pairs) {
		Map<String, String> attributes = new TreeMap<>();
		for (ProtoMessage pair : pairs) {
			ProtoMessage value = pair.messages(2).getFirst();
			attributes.put(pair.text(1), value.has(1) ? value.text(1)
					: value.has(2) ? Boolean.toString(value.number(2) != 0) : Long.toString(value.number(3)));
		}
		return attributes;
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

	/**
	 * A span.
	 *
	 * @param parent empty where it has none
	 */
	public record Span(String trace, String id, String parent, String name, Map<String, String> attributes,
			boolean isError) {

		/** Empty where it is not there. */
		public String attribute(String attribute) {
			return this.attributes.getOrDefault(attribute, "");
		}

	}

}
