package io.kvorum.app;

import java.io.File;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.kvorum.app.KvorumProperties.Range;
import io.kvorum.cluster.ClusterNode;
import io.kvorum.cluster.Member;
import io.kvorum.cluster.ReplicaAddress;
import io.kvorum.cluster.Topology;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsProperties;
import org.springframework.boot.reactor.netty.autoconfigure.ReactorNettyProperties;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.tuple;

/** That a node starts with the properties it was given, or says all that is wrong. */
@ExtendWith(OutputCaptureExtension.class)
class PropertiesTest {

	private final ApplicationContextRunner contexts = new ApplicationContextRunner()
		.withUserConfiguration(PropertiesConfiguration.class);

	@Test
	void theDefaultsFitTogether() {
		this.contexts.run(context -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(KvorumProperties.class).storage().readThreads()).isEqualTo(4);
		});
	}

	@ParameterizedTest
	@CsvSource({ "8MB, 4MB", "48MB, 24MB", "64MB, 32MB", "128MB, 32MB", "200MB, 50MB", "256MB, 64MB", "2GB, 64MB" })
	void memtablesFollowTheCacheUnlessTheyAreSet(DataSize cache, DataSize memtables) {
		this.contexts.withPropertyValues("kvorum.storage.cache-size=" + cache.toMegabytes() + "MB")
			.run(context -> assertThat(context.getBean(KvorumProperties.class).storage().memtables())
				.isEqualTo(memtables));
		this.contexts
			.withPropertyValues("kvorum.storage.cache-size=" + cache.toMegabytes() + "MB",
					"kvorum.storage.memtable-size=4MB")
			.run(context -> assertThat(context.getBean(KvorumProperties.class).storage().memtables())
				.isEqualTo(DataSize.ofMegabytes(4)));
	}

	@Test
	void allThatIsWrongIsToldInOneMessage(CapturedOutput output) {
		assertThatException().isThrownBy(() -> SpringApplication.run(KvorumApplication.class, "--server.port=0",
				"--kvorum.storage.durability=fsnyc", "--kvorum.storage.read-threads=0",
				"--kvorum.api.max-value-size=1 MiB", "--kvorum.replication.read-timeout=5 parsecs",
				"--kvorum.replication.factr=3", "--kvorum.storage.write-queue-time=3s",
				"--kvorum.client.urls=http://localhost:8081"));
		assertThat(output.getOut())
			.containsOnlyOnce(
					"""

							The configuration cannot be used:

							    kvorum.api.max-value-size = 1 MiB: must be a size, such as 512KB, 64MB or 1GB
							    kvorum.replication.factr = 3: there is no such property
							    kvorum.replication.read-timeout = 5 parsecs: must be a duration, such as 500ms, 10s, 5m, 3h or 10d
							    kvorum.storage.durability = fsnyc: must be fsync or os
							    kvorum.storage.read-threads = 0: must be greater than or equal to 1
							    kvorum.storage.write-queue-time = 3000ms: must be less than kvorum.replication.write-timeout, which is 2000ms

							""")
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					kvorum.storage.cache-size=32MB;kvorum.storage.memtable-size=17MB | kvorum.storage.memtable-size = 17MB: must be at most half of kvorum.storage.cache-size, which is 32MB
					kvorum.storage.row-cache-size=1GB             | kvorum.storage.row-cache-size = 1024MB: must be at most half of the heap, which is
					kvorum.storage.write-queue-time=2s            | kvorum.storage.write-queue-time = 2000ms: must be less than kvorum.replication.write-timeout, which is 2000ms
					kvorum.idempotency.retention=2s               | kvorum.idempotency.retention = 2000ms: must be more than kvorum.replication.write-timeout, which is 2000ms
					kvorum.gc-grace=8m;kvorum.replication.write-timeout=2m | kvorum.gc-grace = 480000ms: must be more than four times kvorum.replication.write-timeout, which is 120000ms
					kvorum.gc-grace=1m;kvorum.replication.read-timeout=1m | kvorum.gc-grace = 60000ms: must be more than kvorum.replication.read-timeout, which is 60000ms
					kvorum.api.body-stall-timeout=61s             | kvorum.api.body-stall-timeout = 61000ms: must be at most kvorum.api.body-timeout, which is 60000ms
					kvorum.api.max-in-flight-size=1MB;kvorum.api.max-value-size=2MB | kvorum.api.max-value-size = 2MB: must be at most kvorum.api.max-in-flight-size, which is 1MB
					kvorum.storage.write-queue-size=1MB           | kvorum.api.max-value-size = 1MB: must be at least 4KB less than kvorum.storage.write-queue-size, which is 1MB
					kvorum.api.max-value-size=65MB;kvorum.api.max-in-flight-size=1GB;kvorum.storage.write-queue-size=1GB | kvorum.api.max-value-size = 65MB: must be at most 64MB
					kvorum.storage.cache-size=7MB;kvorum.storage.memtable-size=3MB | kvorum.storage.cache-size = 7MB: must be at least 8MB
					kvorum.backup.directory=./data/backups        | must be neither in kvorum.storage.path nor around it, which is
					kvorum.backup.directory=./a;kvorum.storage.path=./a/b | must be neither in kvorum.storage.path nor around it, which is
					kvorum.backup.keep=0                          | kvorum.backup.keep = 0: must be greater than or equal to 1
					kvorum.backup.restore-whole-cluster=true      | kvorum.backup.restore-whole-cluster = true: must come with kvorum.backup.restore-from
					kvorum.backup.restore-from=;kvorum.backup.restore-whole-cluster=true | kvorum.backup.restore-whole-cluster = true: must come with kvorum.backup.restore-from
					kvorum.engine=cassandra;kvorum.takeover.from=http://a:8080/ | kvorum.takeover.from = http://a:8080/: must be URLs of nodes without a path, as http://kvorum-0:8080
					kvorum.engine=cassandra;kvorum.takeover.from=http://a:8080,b:8080 | kvorum.takeover.from = b:8080: must be URLs of nodes without a path, as http://kvorum-0:8080
					kvorum.engine=cassandra;kvorum.backup.restore-from=/backups/one | kvorum.backup.restore-from = /backups/one: must not be set with kvorum.engine=cassandra: a gateway has no data
					kvorum.backup.max-rate=1KB                    | kvorum.backup.max-rate = 1KB: must be at least 1MB
					kvorum.storage.read-threads=many              | kvorum.storage.read-threads = many: must be a whole number
					""")
	void whatIsWrongIsToldWithTheValueAndWhatIsAllowed(String given, String told) {
		assertRefused(told, given.split(";"));
	}

	/** What is written for "never"; in nanoseconds it is too large for a long. */
	@ParameterizedTest
	@MethodSource("durations")
	void aTimeOfMillenniaIsRefused(String name) {
		assertRefused(name + " = 1000000d: must be shorter than or equal to ", name + "=1000000d");
	}

	private static Stream<String> durations() {
		return durations("kvorum", KvorumProperties.class);
	}

	private static Stream<String> durations(String prefix, Class<?> type) {
		return Arrays.stream(type.getRecordComponents()).flatMap(component -> {
			String name = prefix + "." + DataObjectPropertyName.toDashedForm(component.getName());
			return component.getType().isRecord() ? durations(name, component.getType())
					: Stream.of(name).filter(_ -> component.getType() == Duration.class);
		});
	}

	@Test
	void rangesHaveLimitsOfTheirOwn() {
		this.contexts.run(context -> assertThat(context.getBean(KvorumProperties.class).range())
			.isEqualTo(new Range(8, DataSize.ofMegabytes(40), DataSize.ofKilobytes(64), Duration.ofSeconds(5),
					Duration.ofSeconds(30), 2, 256)));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					kvorum.range.max-concurrent=0          | kvorum.range.max-concurrent = 0: must be greater than or equal to 1
					kvorum.range.max-concurrent=10001      | kvorum.range.max-concurrent = 10001: must be less than or equal to 10000
					kvorum.range.max-in-flight-size=1023KB | kvorum.range.max-in-flight-size = 1023KB: must be at least 1MB
					kvorum.range.page-size=1023B           | kvorum.range.page-size = 1023B: must be at least 1KB
					kvorum.range.page-size=1025KB          | kvorum.range.page-size = 1025KB: must be at most 1MB
					kvorum.range.page-timeout=9ms          | kvorum.range.page-timeout = 9ms: must be longer than or equal to 10 millis
					kvorum.range.page-timeout=11m          | kvorum.range.page-timeout = 11m: must be shorter than or equal to 10 minutes
					kvorum.range.stall-timeout=99ms        | kvorum.range.stall-timeout = 99ms: must be longer than or equal to 100 millis
					kvorum.range.threads=0                 | kvorum.range.threads = 0: must be greater than or equal to 1
					kvorum.range.threads=1025              | kvorum.range.threads = 1025: must be less than or equal to 1024
					kvorum.range.queue-length=0            | kvorum.range.queue-length = 0: must be greater than or equal to 1
					kvorum.range.queue-length=100001       | kvorum.range.queue-length = 100001: must be less than or equal to 100000
					kvorum.range.page-size=1MB;kvorum.range.max-in-flight-size=4MB | kvorum.range.max-in-flight-size = 4MB: must be at least what one range over all nodes takes, which is 8261KB
					kvorum.api.max-value-size=31MB;kvorum.api.max-in-flight-size=64MB;kvorum.storage.write-queue-size=64MB;kvorum.range.page-size=512KB | kvorum.range.max-in-flight-size = 40MB: must be at least what one range over all nodes takes, which is 129093KB
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1,http://b:1,http://c:1;kvorum.range.page-size=1MB;kvorum.range.max-in-flight-size=8MB | kvorum.range.max-in-flight-size = 8MB: must be at least what one range over all nodes takes, which is 12425KB
					kvorum.range.page-bytes=1              | kvorum.range.page-bytes = 1: there is no such property
					""")
	void whatIsWrongWithRangesIsTold(String given, String told) {
		assertRefused(told, given.split(";"));
	}

	@ParameterizedTest
	@ValueSource(strings = {
			"kvorum.range.max-concurrent=1;kvorum.range.page-size=1KB;kvorum.range.page-timeout=10ms;kvorum.range.stall-timeout=100ms;kvorum.range.threads=1;kvorum.range.queue-length=1",
			"kvorum.range.max-concurrent=10000;kvorum.range.page-size=1MB;kvorum.range.page-timeout=10m;kvorum.range.threads=1024;kvorum.range.queue-length=100000",
			"kvorum.range.page-size=1MB;kvorum.range.max-in-flight-size=8261KB",
			"kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1,http://b:1,http://c:1;kvorum.range.page-size=1MB;kvorum.range.max-in-flight-size=12425KB" })
	void theLastValuesThatAreAllowedAre(String given) {
		this.contexts.withPropertyValues(given.split(";")).run(context -> assertThat(context).hasNotFailed());
	}

	@Test
	void aPropertyWithoutAValueHasItsDefault() {
		this.contexts.withPropertyValues("kvorum.storage.cache-size=")
			.run(context -> assertThat(context.getBean(KvorumProperties.class).storage().cacheSize())
				.isEqualTo(DataSize.ofMegabytes(64)));
	}

	/** A variable that is not set would else be another store. */
	@ParameterizedTest
	@ValueSource(strings = { "", " ", "${nothing:}" })
	void anEmptyPathOfTheStoreIsRefused(String path) {
		assertRefused("must name a directory: leave the property out for ./data", "kvorum.storage.path=" + path);
	}

	@Test
	void aNodeThatIsStartedWithAnEmptyPathSaysSo(CapturedOutput output) {
		assertThatException().isThrownBy(
				() -> SpringApplication.run(KvorumApplication.class, "--server.port=0", "--kvorum.storage.path="));
		assertThat(output.getOut())
			.contains("kvorum.storage.path = : must name a directory: leave the property out for ./data")
			.doesNotContain("\tat ");
	}

	@Test
	void theDiskThatIsMeasuredIsThatOfTheDataWhateverItsName() {
		new ApplicationContextRunner().withInitializer(new ConfigDataApplicationContextInitializer())
			.withUserConfiguration(Metrics.class)
			.withPropertyValues("kvorum.storage.path=/data/a,b")
			.run(context -> assertThat(context.getBean(MetricsProperties.class).getSystem().getDiskspace().getPaths())
				.containsExactly(new File("/data/a,b")));
	}

	@Test
	void propertiesOfOthersAreLeftToThem() {
		this.contexts.withPropertyValues("kvorumlike.storage.path=x")
			.run(context -> assertThat(context).hasNotFailed());
	}

	@Test
	void whatSpringBootWouldIgnoreIsRefusedWithAllElse(CapturedOutput output) {
		assertThatException().isThrownBy(() -> SpringApplication.run(KvorumApplication.class, "--server.port=0",
				"--server.netty.idle-timeout=1m", "--server.compression.mime-types=text/html,text/css",
				"--kvorum.storage.read-threads=0"));
		assertThat(output.getOut())
			.contains(
					"""
							The configuration cannot be used:

							    kvorum.storage.read-threads = 0: must be greater than or equal to 1
							    server.compression.mime-types = text/html,text/css: must not be set: answers are not compressed, a proxy can do that
							    server.netty.idle-timeout = 1m: must not be set: use kvorum.api.idle-timeout instead

							""")
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					server.netty.connection-timeout=1s         | server.netty.connection-timeout = 1s: must not be set: use kvorum.api.header-timeout instead
					server.netty.max-initial-line-length=64KB  | server.netty.max-initial-line-length = 64KB: must not be set: the limit of a request line is 8 KB
					server.netty.max-keep-alive-requests=100   | server.netty.max-keep-alive-requests = 100: must not be set: the port has an HTTP codec of its own
					server.netty.validate-headers=false        | server.netty.validate-headers = false: must not be set: the port has an HTTP codec of its own
					server.max-http-request-header-size=64KB   | server.max-http-request-header-size = 64KB: must not be set: the limit of all headers of a request is 16 KB
					server.maxHttpRequestHeaderSize=64KB       | server.max-http-request-header-size = 64KB: must not be set
					server.compression.enabled=true            | server.compression.enabled = true: must be false: answers are not compressed
					server.compression.mime-types[0]=text/html | server.compression.mime-types[0] = text/html: must not be set
					server.http2.enabled=true                  | server.http2.enabled = true: must be false: the port speaks HTTP/1.1
					server.http2.enabled=on                    | server.http2.enabled = on: must be false: the port speaks HTTP/1.1
					server.http2.enabled=maybe                 | server.http2.enabled = maybe: must be false: the port speaks HTTP/1.1
					server.forward-headers-strategy=framework  | server.forward-headers-strategy = framework: must be none
					server.forward-headers-strategy=           | server.forward-headers-strategy = : must be none
					server.shutdown=immediate                  | server.shutdown = immediate: must be graceful
					server.server-header=x                     | server.server-header = x: must not be set
					server.error.include-message=always        | server.error.include-message = always: must not be set: errors are problem details
					spring.web.error.include-message=always    | spring.web.error.include-message = always: must not be set: errors are problem details
					spring.webflux.multipart.max-parts=1       | spring.webflux.multipart.max-parts = 1: must not be set: a node takes no forms
					spring.task.execution.pool.max-size=8      | spring.task.execution.pool.max-size = 8: must not be set: a node has no executor of Spring
					server.reactive.session.timeout=1m         | server.reactive.session.timeout = 1m: must not be set: a node has no sessions
					management.endpoint.health.probes.add-additional-paths=true | management.endpoint.health.probes.add-additional-paths = true: must be false: who may read the details
					management.endpoint.health.group.ready.additional-path=server:/x | management.endpoint.health.group.ready.additional-path = : must not be set: who may read the details
					spring.lifecycle.timeout-per-shutdown-phase=5s | spring.lifecycle.timeout-per-shutdown-phase = 5s: must be longer than the 5 s
					management.endpoints.web.path-mapping.backup=x | management.endpoints.web.path-mapping.backup = x: must not be set: access by API keys
					server.servlet.context-path=/x             | server.servlet.context-path = /x: must not be set: a node is no servlet container
					server.tomcat.threads.max=1                | server.tomcat.threads.max = 1: must not be set: a node is no servlet container
					spring.webflux.base-path=/                 | spring.webflux.base-path = /: must not be set: the paths of the API begin with /v0
					spring.webflux.base-path=/x                | spring.webflux.base-path = /x: must not be set: the paths of the API begin with /v0
					""")
	void propertiesOfSpringBootThatWouldDoNothingAreRefused(String given, String told) {
		assertRefused(told, given);
	}

	@Test
	void whatIsSoAnywayMayBeSaid() {
		this.contexts
			.withPropertyValues("server.compression.enabled=false", "server.http2.enabled=false",
					"server.forward-headers-strategy=NONE", "server.port=0", "server.address=localhost",
					"server.shutdown=graceful", "server.ssl.bundle=x")
			.run(context -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "server.http2.enabled=no", "server.http2.enabled=off", "server.compression.enabled=NO" })
	void whatIsSoAnywayMayBeSaidInAllWaysToWriteABoolean(String given) {
		this.contexts.withPropertyValues(given).run(context -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					SERVER_NETTY_MAX_INITIAL_LINE_LENGTH | 64KB | server.netty.max-initial-line-length = 64KB: must not be set: the limit of a request line is 8 KB
					SERVER_NETTY_MAXINITIALLINELENGTH    | 64KB | server.netty.max-initial-line-length = 64KB: must not be set: the limit of a request line is 8 KB
					SERVER_HTTP2_ENABLED                 | yes  | server.http2.enabled = yes: must be false
					SERVER_FORWARD_HEADERS_STRATEGY      | ''   | server.forward-headers-strategy = : must be none
					SPRING_WEBFLUX_BASE_PATH             | /x   | spring.webflux.base-path = /x: must not be set
					""")
	void aVariableOfTheEnvironmentIsToldOnceByTheNameOfItsProperty(String variable, String value, String told) {
		this.contexts
			.withInitializer(context -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment", Map.of(variable, value))))
			.run(context -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(WrongPropertiesException.class)
				.message()
				.contains(told)
				.containsOnlyOnce("must"));
	}

	@Test
	void aVariableThatIsNoPropertyIsWarnedOf(CapturedOutput output) {
		Map<String, Object> variables = Map.of("KVORUM_ACCESS_KEY_FILE", "/run/keys", "KVORUM_BACKUP_KEEP", "3",
				"KVORUM_URL", "http://a:1", "KVORUM_SERVICE_PORT_API", "8080", "KVORUM_PORT_8080_TCP_ADDR", "10.0.0.1",
				"KVORUM_STORAGE_PATH", "x");
		this.contexts
			.withInitializer(context -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("systemEnvironment", variables)))
			.run(context -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("is no property of a node, and ignored")
			.contains("KVORUM_ACCESS_KEY_FILE is no property")
			.doesNotContain("/run/keys");
	}

	@Test
	void theEventLoopsEndAtOnceUnlessSomebodyElseWantsThemToWait() {
		ApplicationContextRunner defaults = new ApplicationContextRunner()
			.withInitializer(new ConfigDataApplicationContextInitializer())
			.withUserConfiguration(ReactorNetty.class);
		defaults.run(context -> assertThat(context.getBean(ReactorNettyProperties.class).getShutdownQuietPeriod())
			.isEqualTo(Duration.ZERO));
		defaults.withPropertyValues("spring.reactor.netty.shutdown-quiet-period=3s")
			.run(context -> assertThat(context.getBean(ReactorNettyProperties.class).getShutdownQuietPeriod())
				.isEqualTo(Duration.ofSeconds(3)));
	}

	@Test
	void withoutOtherNodesANodeIsAClusterOfOne() {
		this.contexts.withPropertyValues("kvorum.cluster.self=", "kvorum.cluster.nodes=").run(context -> {
			KvorumProperties properties = context.getBean(KvorumProperties.class);
			assertThat(properties.topology().fingerprint()).isEqualTo(Topology.alone().fingerprint());
			assertThat(properties.cluster().address()).isNull();
		});
	}

	/** A node with peers leaves a tombstone. */
	@ParameterizedTest
	@CsvSource({ "10m, '', 1h", "2h, '', 2h", "2h, http://a:1, 1h" })
	void aNodeAloneKeepsWhatHasExpiredAsLongAsAWriteMayBeSentAgain(String retention, String self, String kept) {
		this.contexts
			.withPropertyValues("kvorum.idempotency.retention=" + retention, "kvorum.cluster.self=" + self,
					"kvorum.cluster.nodes=" + self)
			.run(context -> assertThat(context.getBean(KvorumProperties.class).expiryMargin())
				.isEqualTo(DurationStyle.SIMPLE.parse(kept)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "kvorum.cluster.nodes=http://b:2, http://A:1,http://[::1]:3",
			"kvorum.cluster.nodes[0]=HTTP://a:1;kvorum.cluster.nodes[1]=http://b:02;kvorum.cluster.nodes[2]=http://[::1]:3" })
	void theTopologyIsMadeOfTheNormalFormOfTheAddresses(String nodes) {
		this.contexts.withPropertyValues(nodes.split(";"))
			.withPropertyValues("kvorum.cluster.self=http://B:2 ", "kvorum.replication.factor=2")
			.run(context -> {
				assertThat(context).hasNotFailed();
				KvorumProperties properties = context.getBean(KvorumProperties.class);
				assertThat(properties.topology().members()).extracting(Member::address)
					.containsExactly("http://[::1]:3", "http://a:1", "http://b:2");
				assertThat(properties.topology().factor()).isEqualTo(2);
				assertThat(properties.cluster().address()).isEqualTo(new ReplicaAddress("b", 2))
					.hasToString("http://b:2");
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://b:1;kvorum.cluster.join=auto | kvorum.cluster.join = auto: must come with kvorum.cluster.secret: anything that reaches the replica port could become a node
					kvorum.cluster.self=http://a:1?zone=b;kvorum.cluster.nodes=http://b:1 | kvorum.cluster.self = http://a:1?zone=b: must be http://host:port
					kvorum.cluster.self=http://a:1?zone=;kvorum.cluster.nodes=http://b:1;kvorum.cluster.join=auto;kvorum.cluster.secret=correct-horse-battery | kvorum.cluster.self = http://a:1?zone=: must have nothing behind the address but
					kvorum.cluster.self=http://a:1 | kvorum.cluster.self = http://a:1: must come with kvorum.cluster.nodes, the addresses of all nodes, or of some that are to add it
					kvorum.cluster.nodes=http://a:1,http://b:1 | kvorum.cluster.nodes = [http://a:1, http://b:1]: must come with kvorum.cluster.self, the one that is this node
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1,http://A:01 | kvorum.cluster.nodes[1] = http://A:01: must not be there twice, remove one
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1;kvorum.cluster.silence-timeout=2s | kvorum.cluster.silence-timeout = 2000ms: must be less than kvorum.replication.write-timeout, which is 2000ms
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1;kvorum.cluster.silence-timeout=400ms | kvorum.cluster.connect-timeout = 500ms: must be at most kvorum.cluster.silence-timeout, which is 400ms
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1;kvorum.cluster.hedge-delay=1s | kvorum.cluster.hedge-delay = 1000ms: must be less than kvorum.replication.read-timeout, which is 1000ms
					kvorum.cluster.silence-timeout=99ms | kvorum.cluster.silence-timeout = 99ms: must be longer than or equal to 100 millis
					kvorum.cluster.probe-interval=2s | kvorum.cluster.probe-interval = 2s: must be shorter than or equal to 1 second
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1,https://b:1 | kvorum.cluster.nodes[1] = https://b:1: must begin with http:// where kvorum.cluster.ssl.bundle is not set: nothing would be encrypted
					kvorum.cluster.self=HTTPS://a:1;kvorum.cluster.nodes=http://a:1 | kvorum.cluster.self = HTTPS://a:1: must begin with http://
					kvorum.cluster.ssl.bundle=x;kvorum.cluster.self=https://a:1;kvorum.cluster.nodes=http://a:1,https://a:1 | kvorum.cluster.nodes[1] = https://a:1: must not be there twice, remove one
					kvorum.cluster.max-in-flight=0 | kvorum.cluster.max-in-flight = 0: must be greater than or equal to 1
					kvorum.cluster.ssl.bundle= | kvorum.cluster.ssl.bundle = : must name a bundle: leave the property out if nothing is to be encrypted
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1;kvorum.backup.restore-from=/backups/one | kvorum.backup.restore-from = /backups/one: must come with kvorum.backup.restore-whole-cluster=true in a cluster of one
					kvorum.cluster.self=http://a:1;kvorum.cluster.nodes=http://a:1?zone=z;kvorum.backup.restore-from=/backups/one | kvorum.backup.restore-from = /backups/one: must come with kvorum.backup.restore-whole-cluster=true in a cluster of one
					kvorum.cluster.accept-loss=true;kvorum.backup.restore-from=/backups/one | kvorum.backup.restore-from = /backups/one: must be away while kvorum.cluster.accept-loss is set, which is true
					""")
	void whatIsWrongWithAClusterIsTold(String given, String told) {
		assertRefused(told, given.split(";"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "a:1", "//a:1", "a", "ftp://a:1", "http://a", "http://a:", "http://a:0", "http://a:65536",
			"http://a:x", "http://:1", "http://a:1/", "http://a:1/x", "http://a:1#x", "http://u@a:1", "http://a b:1",
			"http://a_b:1", "http://-a:1", "http://1.2.3.400:1", "http://[::1:1", "http:a:1" })
	void anAddressOfAnotherFormIsRefused(String address) {
		assertRefused(
				"kvorum.cluster.nodes[1] = " + address
						+ ": must be http://host:port, with a port from 1 to 65535 and nothing after it",
				"kvorum.cluster.self=http://b:1", "kvorum.cluster.nodes[0]=http://b:1",
				"kvorum.cluster.nodes[1]=" + address);
	}

	@Test
	void aNodeOfTheClusterMayHaveAZoneAndAWeight() {
		this.contexts.withPropertyValues("kvorum.cluster.self=http://b:2",
				"kvorum.cluster.nodes=http://a:1?zone=eu-1&weight=2, https://b:2?weight=1000&zone=eu-2,http://c:3?zone=EU_3.x ",
				"kvorum.cluster.ssl.bundle=x")
			.run(context -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(KvorumProperties.class).topology().members())
					.extracting(Member::address, Member::zone, Member::weight)
					.containsExactly(tuple("http://a:1", "eu-1", 2), tuple("http://b:2", "eu-2", 1000),
							tuple("http://c:3", "EU_3.x", 1));
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "?", "?x", "?zone=", "?zone=a b", "?zone=a&zone=b", "?weight=0", "?weight=1001",
			"?weight=-1", "?weight=01", "?weight=2&weight=2", "?weight=2&", "?&zone=a", "?zone=a?weight=2", "?Zone=a",
			"?zone=%61", "?weight=99999999999" })
	void anAttributeOfAnotherFormIsRefused(String attributes) {
		assertRefused("kvorum.cluster.nodes[1] = http://a:1" + attributes + ": " + ClusterNode.FORM,
				"kvorum.cluster.self=http://b:1", "kvorum.cluster.nodes[0]=http://b:1",
				"kvorum.cluster.nodes[1]=http://a:1" + attributes);
	}

	@Test
	void aZoneOfSomeNodesOnlyIsRefused() {
		assertRefused(
				"kvorum.cluster.nodes = [http://a:1?zone=a, http://b:1]: must give a zone to all nodes, or to none",
				"kvorum.cluster.self=http://a:1", "kvorum.cluster.nodes=http://a:1?zone=a,http://b:1");
	}

	@Test
	void theLimitOfHintsThatAMeterTellsIsTheOneInForce() {
		this.contexts.withPropertyValues("kvorum.gc-grace=1h", "kvorum.hints.window=3h").run(context -> {
			MeterRegistry meters = new SimpleMeterRegistry();
			new LimitMeters(context.getBean(KvorumProperties.class)).bindTo(meters);

			assertThat(meters.get("kvorum.limit.time")
				.tag("property", "kvorum.hints.window")
				.timeGauge()
				.value(TimeUnit.MINUTES)).isEqualTo(45);
		});
	}

	@Test
	void moreThan255NodesAreRefused() {
		assertRefused("kvorum.cluster.nodes = 256 addresses: must be at most 255", "kvorum.cluster.self=http://a:1",
				"kvorum.cluster.nodes=" + nodes(1, 256));
	}

	private static String nodes(int first, int last) {
		return IntStream.rangeClosed(first, last).mapToObj("http://a:%d"::formatted).collect(Collectors.joining(","));
	}

	@Test
	void aNodeThatIsNotInTheListWaitsToBeAddedToThoseThatAre() {
		this.contexts.withPropertyValues("kvorum.cluster.self=http://c:1", "kvorum.cluster.nodes=http://a:1,http://b:1")
			.run(context -> {
				KvorumProperties properties = context.getBean(KvorumProperties.class);
				assertThat(properties.cluster().isFounder()).isFalse();
				assertThat(properties.topology().members()).extracting(Member::address).containsExactly("http://c:1");
			});
	}

	@Test
	void relationsToTheOtherNodesDoNotMatterWithoutThem() {
		this.contexts
			.withPropertyValues("kvorum.replication.write-timeout=500ms", "kvorum.replication.read-timeout=20ms",
					"kvorum.storage.write-queue-time=200ms")
			.run(context -> assertThat(context).hasNotFailed());
	}

	@Test
	void theSecretIsInNoText() {
		this.contexts.withPropertyValues("kvorum.cluster.secret=correct-horse-battery-staple").run(context -> {
			KvorumProperties properties = context.getBean(KvorumProperties.class);
			assertThat(properties.cluster().secret()).isEqualTo("correct-horse-battery-staple");
			assertThat(properties.toString()).contains("secret=(hidden)").doesNotContain("battery");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "cluster.secret=", "cluster.secret=battery", "cluster.secret=battery with spaces in it",
			"cluster.secret=battery\u00fcber-sixteen-characters", "cluster.sercet=battery-staple-of-a-horse",
			"cluster.secret[0]=battery-staple-of-a-horse", "cluster.secret.text=battery-staple-of-a-horse",
			"takeover.key=gateway.battery", "api-key=gateway.battery", "access.password=battery" })
	void aSecretThatIsRefusedIsNotToldEither(String given, CapturedOutput output) {
		assertThatException()
			.isThrownBy(() -> SpringApplication.run(KvorumApplication.class, "--server.port=0", "--kvorum." + given));
		assertThat(output.getAll()).contains("kvorum." + given.substring(0, given.indexOf('=')) + " = (hidden): ")
			.doesNotContain("battery");
	}

	private void assertRefused(String told, String... given) {
		this.contexts.withPropertyValues(given)
			.run(context -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(WrongPropertiesException.class)
				.rootCause()
				.hasMessageContaining(told));
	}

	@EnableConfigurationProperties(ReactorNettyProperties.class)
	private static final class ReactorNetty {

	}

	@EnableConfigurationProperties(MetricsProperties.class)
	private static final class Metrics {

	}

}
