package io.kvorum.node;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Backups of a node, in the way that the guide for operators says. */
@NodeTest
@TestPropertySource(properties = { "management.endpoints.web.exposure.include=health,backup",
		"management.endpoint.backup.access=unrestricted", "kvorum.backup.directory=${kvorum.storage.path}-backups",
		"kvorum.backup.keep=2" })
class BackupEndpointTest {

	private static final String ENDPOINT = "/actuator/backup";

	private final NodeClient node;

	private final Path directory;

	private final MeterRegistry meterRegistry;

	BackupEndpointTest(@LocalServerPort int port, @Value("${kvorum.backup.directory}") Path directory,
			@Autowired MeterRegistry meterRegistry) {
		this.node = new NodeClient(port);
		this.directory = directory;
		this.meterRegistry = meterRegistry;
	}

	@Test
	void aMeterSaysThatBackupsAreConfigured() {
		assertThat(this.meterRegistry.get("kvorum.backup.configured").gauge().value()).isEqualTo(1);
	}

	@Test
	void aBackupIsMadeListedCheckedAndRemoved() throws Exception {
		this.node.send("PUT", "/v0/entity?id=a", "value".getBytes(UTF_8));

		JsonNode made = answer(200, this.node.send("POST", ENDPOINT + "/one"));
		assertThat(made.propertyNames()).containsExactly("name", "made", "bytes", "files", "node", "layout",
				"converged", "verified");
		assertThat(made.get("name").asString()).isEqualTo("one");
		assertThat(made.get("bytes").asLong()).isPositive();
		assertThat(made.get("verified").asBoolean()).isTrue();
		assertThat(listed("one").propertyNames()).as("a list verifies nothing")
			.containsExactly("name", "made", "bytes", "files", "node", "layout", "converged");
		assertThat(this.node.json(ENDPOINT + "/one")).isEqualTo(made);
		assertThat(answer(409, this.node.send("POST", ENDPOINT + "/one")).get("type").asString())
			.isEqualTo("urn:kvorum:problem:backup-exists");

		Path table = tableOf("one");
		byte[] bytes = Files.readAllBytes(table);
		bytes[0] ^= 1;
		// A file of its own: the store has the other one, of which this was a link.
		Files.delete(table);
		Files.write(table, bytes);
		JsonNode damaged = this.node.json(ENDPOINT + "/one");
		assertThat(damaged.get("verified").asBoolean()).isFalse();
		assertThat(damaged.get("problem").asString()).contains(String.valueOf(table.getFileName()));

		assertThat(answer(200, this.node.send("DELETE", ENDPOINT + "/one")).get("removed").asString()).isEqualTo("one");
		assertThat(this.directory.resolve("one")).doesNotExist();
		assertThat(this.node.send("GET", ENDPOINT + "/one").statusCode()).isEqualTo(404);
	}

	@Test
	void aListNamesTheProblemOfABackupWithoutAManifestThatCanBeUsed() throws Exception {
		answer(200, this.node.send("POST", ENDPOINT + "/broken"));
		Files.writeString(this.directory.resolve("broken").resolve("manifest.json"), "{}");

		assertThat(listed("broken").propertyNames()).containsExactly("name", "problem");
		answer(200, this.node.send("DELETE", ENDPOINT + "/broken"));
	}

	@Test
	void aDirectoryThatIsNoneIsAFailureAndNoRefusal() throws Exception {
		answer(200, this.node.send("POST", ENDPOINT));
		Path moved = Files.move(this.directory, this.directory.resolveSibling(this.directory.getFileName() + "-moved"));
		Files.createFile(this.directory);

		HttpResponse<byte[]> failed = this.node.send("POST", ENDPOINT);
		Files.delete(this.directory);
		Files.move(moved, this.directory);
		JsonNode problem = answer(500, failed);
		assertThat(problem.get("type").asString()).isEqualTo("urn:kvorum:problem:backup-failed");
		assertThat(problem.get("title").asString()).isEqualTo("Backup failed");
		assertThat(answer(400, this.node.send("GET", ENDPOINT + "/A")).get("title").asString())
			.isEqualTo("Backup refused");
	}

	private JsonNode listed(String name) throws Exception {
		return this.node.json(ENDPOINT)
			.get("backups")
			.valueStream()
			.filter(backup -> backup.get("name").asString().equals(name))
			.findFirst()
			.orElseThrow();
	}

	@Test
	void withoutANameItIsNamedAfterTheTimeAndTheOldestGo() throws Exception {
		String first = answer(200, this.node.send("POST", ENDPOINT)).get("name").asString();
		assertThat(first).matches("\\d{4}-\\d\\d-\\d\\d-\\d{6}-\\d{3}");
		this.node.send("POST", ENDPOINT);
		this.node.send("POST", ENDPOINT);
		assertThat(this.node.json(ENDPOINT).get("backups")).hasSize(2)
			.noneMatch(backup -> backup.get("name").asString().equals(first));
	}

	@ParameterizedTest
	@ValueSource(strings = { "..%2f..%2fx", "%2e%2e", ".lock", "one.partial", "A", "a%00", "%2fetc" })
	void pathTricksAreRefusedAndTouchNothing(String name) throws Exception {
		Path outside = Files.createDirectories(this.directory.resolveSibling("x"));
		for (String method : new String[] { "POST", "DELETE", "GET" }) {
			assertThat(statusOf(method, ENDPOINT + "/" + name)).as(method).isEqualTo(400);
		}
		assertThat(outside).isEmptyDirectory();
		assertThat(this.node.json(ENDPOINT).get("backups").toString()).doesNotContain("etc", "partial", "lock");
	}

	private static JsonNode answer(int status, HttpResponse<byte[]> response) {
		assertThat(response.statusCode()).as(new String(response.body(), UTF_8)).isEqualTo(status);
		return JsonMapper.shared().readTree(response.body());
	}

	private int statusOf(String method, String path) throws Exception {
		return this.node.send(method, path).statusCode();
	}

	private Path tableOf(String name) throws IOException {
		try (Stream<Path> files = Files.list(this.directory.resolve(name).resolve("store"))) {
			return files.filter(file -> file.toString().endsWith(".sst")).findFirst().orElseThrow();
		}
	}

}
