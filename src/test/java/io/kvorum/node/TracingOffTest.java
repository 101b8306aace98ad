package io.kvorum.node;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** A node as it is without configuration: nothing of OpenTelemetry is there. */
@NodeTest
@ExtendWith(OutputCaptureExtension.class)
class TracingOffTest {

	private static final List<String> TRACING = List.of("io.opentelemetry.", "io.micrometer.tracing.",
			"org.springframework.boot.opentelemetry.", "org.springframework.boot.micrometer.tracing.");

	private final NodeClient node;

	private final ConfigurableApplicationContext context;

	TracingOffTest(@LocalServerPort int port, @Autowired ConfigurableApplicationContext context) {
		this.node = new NodeClient(port);
		this.context = context;
	}

	@Test
	void noBeanIsOfOpenTelemetryAndNoThreadExports(CapturedOutput output) throws Exception {
		this.node.send("PUT", "/v0/entity?id=a", new byte[1]);

		Stream<String> types = Arrays.stream(this.context.getBeanDefinitionNames())
			.map(this.context::getType)
			.filter(Objects::nonNull)
			.map(Class::getName);
		assertThat(types).isNotEmpty()
			.noneSatisfy(type -> assertThat(TRACING).anySatisfy(name -> assertThat(type).startsWith(name)));
		assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
			.noneMatch(name -> name.contains("SpanProcessor") || name.contains("otlp"));
		assertThat(output.getAll().lines().filter(line -> line.contains("Ready"))).isNotEmpty()
			.as("no room for a trace between the thread and the logger")
			.allSatisfy(line -> assertThat(line).containsPattern("\\[kvorum] \\[[^]]*] io\\."));
	}

	@Test
	void metersAreNotSentAndReactorLooksForNoContexts() {
		for (String left : List.of(String.join(".", "io.micrometer", "registry", "otlp.OtlpMeterRegistry"),
				"io.micrometer.context.ContextRegistry", "okhttp3.OkHttpClient")) {
			assertThat(ClassUtils.isPresent(left, null)).as(left).isFalse();
		}
	}

}
