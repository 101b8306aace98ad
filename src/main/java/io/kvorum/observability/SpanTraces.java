package io.kvorum.observability;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.kvorum.api.RequestTrace;
import io.kvorum.api.RequestTraces;
import io.kvorum.wire.RequestHead;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;

/**
 * Traces with a span for each operation, in the trace of its client, and a child span for
 * each call of a replica. Contexts are passed explicitly and never bound to a thread: a
 * request uses several threads, and a thread serves many requests.
 */
final class SpanTraces implements RequestTraces {

	private static final Set<String> METHODS = Stream.of(HttpMethod.values())
		.map(HttpMethod::name)
		.collect(Collectors.toUnmodifiableSet());

	/** Value of the semantic conventions for any unknown method. */
	private static final String OTHER_METHOD = "_OTHER";

	private static final String NAME_OF_OTHERS = "HTTP";

	private static final TextMapGetter<RequestHead> HEADERS = new Headers();

	/**
	 * Looked up here because the first lookup reads jars, which must not happen on an
	 * event loop.
	 */
	private final Context root = Context.root();

	private final Tracer tracer;

	private final TextMapPropagator propagator;

	private final String self;

	SpanTraces(OpenTelemetry telemetry, String self) {
		this.tracer = telemetry.getTracer("io.kvorum");
		this.propagator = telemetry.getPropagators().getTextMapPropagator();
		this.self = self;
	}

	/** Begins the span of a request; null if its trace is not sampled. */
	@Override
	public @Nullable RequestTrace begin(RequestHead request, String route) {
		Context client = this.propagator.extract(this.root, request, HEADERS);
		String method = METHODS.contains(request.method()) ? request.method() : OTHER_METHOD;
		String name = method.equals(OTHER_METHOD) ? NAME_OF_OTHERS : method;
		Span span = this.tracer.spanBuilder(name + " " + route)
			.setParent(client)
			.setSpanKind(SpanKind.SERVER)
			.startSpan();
		if (!span.isRecording()) {
			return null;
		}
		span.setAttribute(SpanAttributes.METHOD, method);
		span.setAttribute(SpanAttributes.ROUTE, route);
		// The route, since the path as sent may only differ in its spelling, which the
		// client chooses.
		span.setAttribute(SpanAttributes.PATH, route);
		span.setAttribute(SpanAttributes.SCHEME, request.scheme());
		span.setAttribute(SpanAttributes.NODE, this.self);
		return new OperationSpan(span, client.with(span), this.tracer, this.self);
	}

	private static final class Headers implements TextMapGetter<RequestHead> {

		/**
		 * Unused: only propagators that read all headers would need it, and Spring Boot
		 * has none.
		 */
		@Override
		public Iterable<String> keys(RequestHead request) {
			return List.of();
		}

		@Override
		public @Nullable String get(@Nullable RequestHead request, String name) {
			return (request != null) ? request.header(name) : null;
		}

	}

}
