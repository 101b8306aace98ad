package io.kvorum.node;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * That the meters of a node and the document about them say the same; of one with a peer,
 * which has more.
 */
@NodeTest
@ContextConfiguration(initializers = AbsentPeer.class)
class MetersTest {

	private static final Path DOCUMENT = Path.of("src/docs/metrics.md");

	/** What gateways have and nodes do not. */
	private static final String GATEWAYS = "| `kvorum.gateway.";

	private static final String OURS = "kvorum\\..*|http\\.server\\..*";

	private final NodeClient node;

	private final MeterRegistry meterRegistry;

	MetersTest(@LocalServerPort int port, @Autowired MeterRegistry meterRegistry) {
		this.node = new NodeClient(port);
		this.meterRegistry = meterRegistry;
	}

	@Test
	void everyMeterIsDocumentedAndEveryDocumentedOneIsThere() throws Exception {
		this.node.send("GET", "/v0/entity?id=a");
		this.node.send("GET", "/v0/status");
		assertThat(registered()).containsExactlyInAnyOrderElementsOf(documented());
	}

	@Test
	void theCountersOfTheEngineCountAfterAGarbageCollectionToo() {
		System.gc();
		// The bound of the clock was synced at the start.
		assertThat(this.meterRegistry.get("kvorum.rocksdb.wal.syncs").functionCounter().count()).isPositive();
	}

	@Test
	void withoutADirectoryNoBackupIsMissed() {
		assertThat(this.meterRegistry.get("kvorum.backup.configured").gauge().value()).isZero();
	}

	@Test
	void namesForPrometheusAreWellFormed() throws Exception {
		String all = new String(this.node.send("GET", "/actuator/prometheus").body(), StandardCharsets.UTF_8);
		assertThat(all.lines().filter(line -> line.startsWith("kvorum_")))
			.allSatisfy(line -> assertThat(line).doesNotMatch("\\w+_([ {].*)"));
	}

	private Set<String> registered() {
		return this.meterRegistry.getMeters()
			.stream()
			.map(Meter::getId)
			.filter(id -> id.getName().matches(OURS))
			.map(id -> row(id.getName(), id.getType().name().toLowerCase(Locale.ROOT), id.getBaseUnit(),
					id.getTags().stream().map(Tag::getKey).sorted().collect(Collectors.joining(", "))))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static Set<String> documented() throws IOException {
		return Files.readAllLines(DOCUMENT)
			.stream()
			.filter(line -> line.startsWith("| `") && !line.startsWith(GATEWAYS))
			.map(line -> line.split("\\|", -1))
			.map(cells -> row(cells[1].strip().replace("`", ""), cells[2].strip(), cells[3].strip(), cells[4].strip()))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static String row(String name, String type, @Nullable String unit, String tags) {
		return "%s: %s, unit [%s], tags [%s]".formatted(name, type, (unit != null) ? unit : "", tags);
	}

}
