package io.kvorum.observability;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import io.kvorum.api.RequestTrace;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.OperationObserver.Call;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.RangeOutcome;
import io.kvorum.operation.RangeScope;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.wire.RequestHead;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The spans of operations, by the SDK as it is. */
class SpanTracesTests {

	private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

	private static final String PARENT = "00f067aa0ba902b7";

	private static final String SAMPLED = "00-" + TRACE + "-" + PARENT + "-01";

	private static final String NOT_SAMPLED = "00-" + TRACE + "-" + PARENT + "-00";

	private static final String SELF = "http://10.0.0.1:9090";

	private static final String PEER = "http://10.0.0.2:9090";

	private static final String ROUTE = "/v0/entity";

	private final InMemorySpanExporter exported = InMemorySpanExporter.create();

	private OpenTelemetrySdk telemetry = telemetry(1);

	@AfterEach
	void close() {
		this.telemetry.close();
	}

	private OpenTelemetrySdk telemetry(double ratio) {
		return OpenTelemetrySdk.builder()
			.setTracerProvider(SdkTracerProvider.builder()
				.setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(ratio)))
				.addSpanProcessor(SimpleSpanProcessor.create(this.exported))
				.build())
			.setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
			.build();
	}

	private @Nullable RequestTrace begin(String method, String... traceparent) {
		Map<String, String> headers = (traceparent.length > 0) ? Map.of("traceparent", traceparent[0]) : Map.of();
		return new SpanTraces(this.telemetry, SELF).begin(new Head(method, headers), ROUTE);
	}

	private RequestTrace begun(String method, String... traceparent) {
		RequestTrace trace = begin(method, traceparent);
		if (trace == null) {
			throw new AssertionError("it is not followed");
		}
		return trace;
	}

	private SpanData span(String name) {
		return this.exported.getFinishedSpanItems()
			.stream()
			.filter(span -> span.getName().equals(name))
			.findFirst()
			.orElseThrow(() -> new AssertionError(this.exported.getFinishedSpanItems().toString()));
	}

	private static Map<String, Object> attributes(SpanData span) {
		Map<String, Object> attributes = new TreeMap<>();
		span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value));
		return attributes;
	}

	@Test
	void anOperationIsOneServerSpanInTheTraceOfItsClientWithAllThatIsKnownOfIt() {
		RequestTrace trace = begun("PUT", SAMPLED);
		trace.began(new Replicas(2, 3), Consistency.LINEARIZABLE);
		trace.decided(Outcome.REACHED);
		trace.answered(201);

		SpanData span = span("PUT /v0/entity");
		assertThat(span.getKind()).isEqualTo(SpanKind.SERVER);
		assertThat(span.getTraceId()).isEqualTo(TRACE);
		assertThat(span.getParentSpanId()).isEqualTo(PARENT);
		assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
		assertThat(attributes(span)).containsExactlyInAnyOrderEntriesOf(Map.ofEntries(
				Map.entry("http.request.method", "PUT"), Map.entry("http.route", ROUTE), Map.entry("url.path", ROUTE),
				Map.entry("url.scheme", "http"), Map.entry("http.response.status_code", 201L),
				Map.entry("kvorum.node", SELF), Map.entry("kvorum.ack", 2L), Map.entry("kvorum.from", 3L),
				Map.entry("kvorum.consistency", "linearizable"), Map.entry("kvorum.outcome", "reached")));
	}

	@Test
	void eachCallOfAReplicaIsASpanBelowItAlsoOneThatEndsLater() {
		RequestTrace trace = begun("PUT");
		Call own = trace.asked(SELF, Step.STORE, false);
		Call peer = trace.asked(PEER, Step.STORE, false);
		own.ended("ok", 1);
		trace.answered(201);
		peer.ended("disconnected", 1);

		SpanData server = span("PUT /v0/entity");
		assertThat(this.exported.getFinishedSpanItems()).filteredOn(span -> span.getName().equals("replica store"))
			.allSatisfy(span -> {
				assertThat(span.getParentSpanId()).isEqualTo(server.getSpanId());
				assertThat(span.getTraceId()).isEqualTo(server.getTraceId());
			})
			.extracting(SpanTracesTests::attributes)
			.containsExactly(Map.of("kvorum.replica", SELF, "kvorum.step", "store", "kvorum.outcome", "ok"),
					Map.of("kvorum.replica", PEER, "kvorum.step", "store", "kvorum.outcome", "disconnected",
							"error.type", "disconnected"));
		assertThat(this.exported.getFinishedSpanItems()).extracting(SpanData::getKind)
			.containsExactly(SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CLIENT);
		assertThat(this.exported.getFinishedSpanItems()).extracting(span -> span.getStatus().getStatusCode())
			.containsExactly(StatusCode.UNSET, StatusCode.UNSET, StatusCode.ERROR);
	}

	@Test
	void aHedgeIsMarkedAndAReplyThatNobodyWaitsForIsNoError() {
		RequestTrace trace = begun("GET");
		trace.asked(PEER, Step.READ, true).ended("cancelled", 1);

		SpanData call = span("replica read");
		assertThat(attributes(call)).containsEntry("kvorum.hedge", true).containsEntry("kvorum.outcome", "cancelled");
		assertThat(call.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
	}

	@Test
	void aWriteUnderBallotsTellsHowManyItTook() {
		RequestTrace trace = begun("PUT");
		for (int attempt = 1; attempt <= 2; attempt++) {
			trace.attempted(attempt);
			trace.asked(PEER, Step.PREPARE, false).ended("ok", 1);
		}
		trace.asked(PEER, Step.ACCEPT, false).ended("ok", 1);
		trace.answered(201);

		assertThat(this.exported.getFinishedSpanItems()).extracting(SpanData::getName)
			.containsExactly("replica prepare", "replica prepare", "replica accept", "PUT /v0/entity");
		assertThat(attributes(span("PUT /v0/entity"))).containsEntry("kvorum.attempts", 2L);
	}

	@Test
	void aTraceThatItsClientDoesNotSampleIsNotFollowed() {
		assertThat(begin("GET", NOT_SAMPLED)).isNull();
		assertThat(this.exported.getFinishedSpanItems()).isEmpty();
	}

	@Test
	void withoutATraceOfTheClientTheProbabilityDecidesAndWithOneTheClient() {
		this.telemetry.close();
		this.telemetry = telemetry(0);
		assertThat(begin("GET")).isNull();
		assertThat(begin("GET", SAMPLED)).isNotNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "no trace at all", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
			"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
			"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" })
	void aTraceparentThatIsNoneBeginsATraceOfItsOwn(String header) {
		begun("GET", header).answered(200);
		assertThat(span("GET /v0/entity").getParentSpanContext().isValid()).isFalse();
	}

	@Test
	void aWordThatIsNoMethodIsInNoSpan() {
		begun("SECRET").answered(405);
		assertThat(attributes(span("HTTP /v0/entity"))).containsEntry("http.request.method", "_OTHER");
		assertThat(this.exported.getFinishedSpanItems().toString()).doesNotContain("SECRET");
	}

	@ParameterizedTest
	@CsvSource({ "200, UNSET,", "404, UNSET,", "503, ERROR, 503", "504, ERROR, 504" })
	void failuresOfTheServerAreErrors(int status, StatusCode code, @Nullable String error) {
		begun("GET").answered(status);
		SpanData span = span("GET /v0/entity");
		assertThat(span.getStatus().getStatusCode()).isEqualTo(code);
		assertThat(attributes(span).get("error.type")).isEqualTo(error);
	}

	@Test
	void aClientThatGoesAwayLeavesNoStatus() {
		begun("GET").answered(0);
		assertThat(attributes(span("GET /v0/entity"))).containsEntry("error.type", "cancelled")
			.doesNotContainKey("http.response.status_code");
	}

	@Test
	void aRangeOverALargeStoreHasALimitedNumberOfSpansAndTellsHowManyItWouldHave() {
		RequestTrace trace = begun("GET");
		trace.began(RangeScope.CLUSTER);
		for (int i = 0; i < OperationSpan.MAX_CALLS + 30; i++) {
			trace.asked(PEER, Step.PAGE, false).ended("ok", 1);
		}
		trace.ended(RangeOutcome.BROKEN);
		trace.answered(0);

		assertThat(this.exported.getFinishedSpanItems()).hasSize(OperationSpan.MAX_CALLS + 1);
		assertThat(attributes(span("GET /v0/entity"))).containsEntry("kvorum.calls.omitted", 30L)
			.containsEntry("kvorum.scope", "cluster")
			.containsEntry("kvorum.outcome", "broken");
	}

	/** A request with these headers, whose names are in small letters. */
	private record Head(String method, Map<String, String> headers) implements RequestHead {

		@Override
		public String scheme() {
			return "http";
		}

		@Override
		public @Nullable String header(CharSequence name) {
			return this.headers.get(name.toString().toLowerCase(Locale.ROOT));
		}

	}

}
