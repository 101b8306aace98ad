package io.kvorum.observability;

import java.util.Collection;
import java.util.concurrent.TimeUnit;

import io.kvorum.api.RequestTrace;
import io.kvorum.api.RequestTraces;
import io.kvorum.kv.Replicas;
import io.kvorum.operation.OperationObserver.Call;
import io.kvorum.operation.OperationObserver.Step;
import io.kvorum.operation.Outcome;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import io.kvorum.wire.RequestHead;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures the cost of tracing an operation: the spans of a GET, which asks two replicas,
 * and of a PUT, which asks two for versions and three to store. The exporter drops them,
 * on a thread of its own.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class TraceBenchmark {

	private static final String SELF = "http://10.0.0.1:9090";

	private static final String[] REPLICAS = { SELF, "http://10.0.0.2:9090", "http://10.0.0.3:9090" };

	private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0";

	/** Whether tracing is on, and whether the client or the node decides on sampling. */
	public enum Tracing {

		OFF, NOT_SAMPLED_BY_CLIENT, NOT_SAMPLED, SAMPLED

	}

	@Param
	Tracing tracing;

	OpenTelemetrySdk telemetry;

	RequestTraces traces;

	RequestHead get;

	RequestHead put;

	@Setup
	public void begin() {
		this.telemetry = OpenTelemetrySdk.builder()
			.setTracerProvider(SdkTracerProvider.builder()
				.setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(0)))
				.addSpanProcessor(BatchSpanProcessor.builder(new Nowhere()).build())
				.build())
			.setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
			.build();
		this.traces = (this.tracing == Tracing.OFF) ? RequestTraces.NONE : new SpanTraces(this.telemetry, SELF);
		HttpHeaders headers = new DefaultHttpHeaders().add(HttpHeaderNames.HOST, "localhost:8080")
			.add(HttpHeaderNames.USER_AGENT, "curl/8.5.0")
			.add(HttpHeaderNames.ACCEPT, "*/*");
		switch (this.tracing) {
			case SAMPLED -> headers.add("traceparent", TRACE + "1");
			case NOT_SAMPLED_BY_CLIENT -> headers.add("traceparent", TRACE + "0");
			case OFF, NOT_SAMPLED -> {
			}
		}
		this.get = new Head("GET", headers);
		this.put = new Head("PUT", headers);
	}

	@TearDown
	public void end() {
		this.telemetry.close();
	}

	@Benchmark
	public @Nullable RequestTrace get() {
		RequestTrace trace = this.traces.begin(this.get, "/v0/entity");
		if (trace != null) {
			trace.began(new Replicas(2, 3), Consistency.LINEARIZABLE);
			ask(trace, Step.READ, 2);
			trace.decided(Outcome.REACHED);
			trace.answered(200);
		}
		return trace;
	}

	@Benchmark
	public @Nullable RequestTrace put() {
		RequestTrace trace = this.traces.begin(this.put, "/v0/entity");
		if (trace != null) {
			trace.began(new Replicas(2, 3), Consistency.LINEARIZABLE);
			ask(trace, Step.VERSIONS, 2);
			ask(trace, Step.STORE, 3);
			trace.decided(Outcome.REACHED);
			trace.answered(201);
		}
		return trace;
	}

	private static void ask(RequestTrace trace, Step step, int replicas) {
		for (int i = 0; i < replicas; i++) {
			Call call = trace.asked(REPLICAS[i], step, false);
			call.ended("ok", 1);
		}
		trace.took(step, 1);
	}

	private record Head(String method, HttpHeaders headers) implements RequestHead {

		@Override
		public String scheme() {
			return "http";
		}

		@Override
		public @Nullable String header(CharSequence name) {
			return this.headers.get(name);
		}

	}

	private static final class Nowhere implements SpanExporter {

		@Override
		public CompletableResultCode export(Collection<SpanData> spans) {
			return CompletableResultCode.ofSuccess();
		}

		@Override
		public CompletableResultCode flush() {
			return CompletableResultCode.ofSuccess();
		}

		@Override
		public CompletableResultCode shutdown() {
			return CompletableResultCode.ofSuccess();
		}

	}

}
