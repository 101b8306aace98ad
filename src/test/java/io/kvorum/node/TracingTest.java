package io.kvorum.node;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.kvorum.testing.Poll;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node that traces, as Spring Boot puts OpenTelemetry together: one span for each
 * operation, none for anything else, and nothing of users in any.
 */
@NodeTest
@TestPropertySource(properties = { "kvorum.tracing.enabled=true", "management.tracing.sampling.probability=1",
		"management.tracing.export.otlp.enabled=false" })
@Import(TracingTest.Exporter.class)
class TracingTest {

	private static final AtomicLong traces = new AtomicLong();

	private static final Duration DEADLINE = Duration.ofSeconds(20);

	private static final String PARENT = "00f067aa0ba902b7";

	private static final String KEY = "grace-hopper-1906";

	private static final String VALUE = "mark-1-1944";

	/** Of this test alone: a span may end when its client has long had the answer. */
	private final String trace = "4bf92f3577b34da6" + HexFormat.of().toHexDigits(traces.incrementAndGet());

	private final HttpClient client = HttpClient.newHttpClient();

	private final URI node;

	private final SdkTracerProvider spans;

	private final InMemorySpanExporter exported;

	TracingTest(@LocalServerPort int port, @Autowired SdkTracerProvider spans,
			@Autowired InMemorySpanExporter exported) {
		this.node = URI.create("http://localhost:" + port);
		this.spans = spans;
		this.exported = exported;
	}

	private HttpResponse<String> send(String method, String target, String... headers) throws Exception {
		return sendIn(this.trace + "-" + PARENT + "-01", method, target, headers);
	}

	private HttpResponse<String> sendIn(String context, String method, String target, String... headers)
			throws Exception {
		HttpRequest.Builder request = HttpRequest.newBuilder(this.node.resolve(target))
			.header("traceparent", "00-" + context)
			.method(method, method.equals("PUT") ? BodyPublishers.ofString(VALUE) : BodyPublishers.noBody());
		if (headers.length > 0) {
			request.headers(headers);
		}
		return this.client.send(request.build(), BodyHandlers.ofString());
	}

	/** The spans of this test, as soon as so many requests are over. */
	private List<SpanData> awaitSpans(int requests) throws InterruptedException {
		Poll.until(() -> requests + " requests have spans: " + spans(), DEADLINE,
				() -> spans().stream().filter(span -> span.getKind() == SpanKind.SERVER).count() >= requests);
		return spans();
	}

	private List<SpanData> spans() {
		assertThat(this.spans.forceFlush().join(10, TimeUnit.SECONDS).isSuccess()).isTrue();
		return this.exported.getFinishedSpanItems()
			.stream()
			.filter(span -> span.getTraceId().equals(this.trace))
			.toList();
	}

	private static String text(SpanData span, String attribute) {
		return String.valueOf(span.getAttributes().get(AttributeKey.stringKey(attribute)));
	}

	@Test
	void aPutIsOneSpanInTheTraceOfItsClientWithOneForTheReplicaBelowIt() throws Exception {
		assertThat(send("PUT", "/v0/entity?id=a").statusCode()).isEqualTo(201);

		List<SpanData> exported = awaitSpans(1);
		assertThat(exported).extracting(SpanData::getName).containsExactly("replica store", "PUT /v0/entity");
		SpanData server = exported.getLast();
		SpanData replica = exported.getFirst();
		assertThat(server.getKind()).isEqualTo(SpanKind.SERVER);
		assertThat(server.getParentSpanId()).isEqualTo(PARENT);
		assertThat(text(server, "http.request.method")).isEqualTo("PUT");
		assertThat(text(server, "http.route")).isEqualTo("/v0/entity");
		assertThat(text(server, "url.scheme")).isEqualTo("http");
		assertThat(text(server, "kvorum.consistency")).isEqualTo("linearizable");
		assertThat(text(server, "kvorum.outcome")).isEqualTo("reached");
		assertThat(server.getAttributes().get(AttributeKey.longKey("http.response.status_code"))).isEqualTo(201);
		assertThat(server.getResource().getAttribute(AttributeKey.stringKey("service.name"))).isEqualTo("kvorum");
		assertThat(replica.getParentSpanId()).isEqualTo(server.getSpanId());
		assertThat(text(replica, "kvorum.outcome")).isEqualTo("ok");
	}

	@Test
	void aConditionalPutHasASpanForEachStepAndTellsItsAttempts() throws Exception {
		assertThat(send("PUT", "/v0/entity?id=conditional", "If-None-Match", "*").statusCode()).isEqualTo(201);

		List<SpanData> exported = awaitSpans(1);
		assertThat(exported).extracting(SpanData::getName)
			.containsExactly("replica read", "replica prepare", "replica accept", "PUT /v0/entity");
		assertThat(exported.getLast().getAttributes().get(AttributeKey.longKey("kvorum.attempts"))).isEqualTo(1);
	}

	@Test
	void aRangeIsOneSpanWithOneForEachPage() throws Exception {
		assertThat(send("GET", "/v0/entities?start=a").statusCode()).isEqualTo(200);

		List<SpanData> exported = awaitSpans(1);
		assertThat(exported).extracting(SpanData::getName).containsOnly("replica page", "GET /v0/entities");
		SpanData server = exported.getLast();
		assertThat(text(server, "kvorum.scope")).isEqualTo("cluster");
		assertThat(text(server, "kvorum.outcome")).isEqualTo("complete");
		assertThat(exported.getFirst().getParentSpanId()).isEqualTo(server.getSpanId());
	}

	@Test
	void aTraceThatIsNotSampledLeavesNothing() throws Exception {
		sendIn(this.trace + "-" + PARENT + "-00", "PUT", "/v0/entity?id=a");
		assertOnlyTheNextIsTraced();
	}

	@Test
	void scrapesAndHealthChecksAndUnknownPathsAreNotTraced() throws Exception {
		for (String path : new String[] { "/actuator/prometheus", "/actuator/health/readiness", "/v0/status",
				"/v0/" + KEY }) {
			send("GET", path);
		}
		assertOnlyTheNextIsTraced();
	}

	private void assertOnlyTheNextIsTraced() throws Exception {
		send("DELETE", "/v0/entity?id=next");
		assertThat(awaitSpans(1)).extracting(SpanData::getName).containsOnly("replica store", "DELETE /v0/entity");
	}

	@Test
	void keysAndValuesAreInNoSpan() throws Exception {
		String entity = "/v0/entity?id=" + KEY;
		for (String method : new String[] { "PUT", "GET", "HEAD", "POST", VALUE, "DELETE" }) {
			send(method, entity, "tracestate", "a=b", "baggage", "key=" + KEY);
		}
		for (String wrong : new String[] { "&ttl=" + VALUE, "&replicas=" + VALUE, "&id=" + KEY, "%ff" }) {
			assertThat(send("PUT", entity + wrong).statusCode()).isEqualTo(400);
		}
		send("GET", "/v0/entities?start=" + KEY + "&end=" + KEY + "z");
		send("GET", "/v0/entities?start=" + KEY + "&limit=" + VALUE);

		for (SpanData span : awaitSpans(12)) {
			String all = span + " " + span.getAttributes() + span.getEvents() + span.getSpanContext().getTraceState();
			assertThat(all).doesNotContainIgnoringCase(KEY).doesNotContainIgnoringCase(VALUE);
		}
	}

	@Test
	void whoAsksForTheTimesGetsThemBesideTheTrace() throws Exception {
		HttpResponse<String> put = send("PUT", "/v0/entity?id=a", "Kvorum-Timing", "1");

		assertThat(put.headers().firstValue("Server-Timing").orElse("")).contains("store;dur=");
		assertThat(awaitSpans(1)).hasSize(2);
	}

	@TestConfiguration
	static class Exporter {

		@Bean
		InMemorySpanExporter inMemorySpanExporter() {
			return InMemorySpanExporter.create();
		}

	}

}
