package io.kvorum.node;

import java.net.http.HttpResponse;

import io.kvorum.testing.ApiKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The console where an operator wants it in spite of API keys: its files are open, and
 * nothing else.
 */
@NodeTest
@TestPropertySource(properties = { "kvorum.console.enabled=true", "management.server.port=0" })
class ConsoleTest {

	private final NodeClient stranger;

	private final NodeClient management;

	ConsoleTest(@LocalServerPort int port, @LocalManagementPort int managementPort) {
		this.stranger = new NodeClient(port);
		this.management = new NodeClient(managementPort);
	}

	@DynamicPropertySource
	static void keys(DynamicPropertyRegistry properties) {
		properties.add("kvorum.access.keys-file", () -> ApiKeys.file(ApiKeys.entry("reports", AccessTest.REPORTS)));
	}

	@ParameterizedTest
	@CsvSource({ "/console, text/html", "/console/console.js, text/javascript", "/console/formats.js, text/javascript",
			"/console/console.css, text/css" })
	void itsFilesAreOpenAndMayLoadOnlyEachOther(String path, String type) throws Exception {
		HttpResponse<byte[]> file = this.stranger.send("GET", path);

		assertThat(file.statusCode()).isEqualTo(200);
		assertThat(file.headers().firstValue("Content-Type").orElse("")).startsWith(type);
		assertThat(file.headers().firstValue("Content-Security-Policy").orElse("")).contains("default-src 'none'",
				"script-src 'self'", "frame-ancestors 'none'");
		assertThat(file.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
		assertThat(file.body()).isNotEmpty();
	}

	@Test
	void aSlashBehindItLeadsToIt() throws Exception {
		assertThat(this.stranger.send("GET", "/console/").headers().firstValue("Location")).hasValue("../console");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/console/nothing", "/console/index.html", "/consolex", "/v0/cluster", "/v0/status",
			"/v0/entity?id=reports/a", "/v0/entities?values=false" })
	void whatIsBesideThemIsGuarded(String path) throws Exception {
		assertThat(this.stranger.send("GET", path).statusCode()).isEqualTo(401);
	}

	@Test
	void itIsNotAtTheManagementPortAndTakesNoWrites() throws Exception {
		assertThat(this.management.send("GET", "/console").statusCode()).isEqualTo(401);
		assertThat(this.stranger.send("POST", "/console").statusCode()).isEqualTo(401);
	}

}
