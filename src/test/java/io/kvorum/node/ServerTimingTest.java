package io.kvorum.node;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * That each kind of answer has the times that its client has asked for; of a node whose
 * peer is away.
 */
@NodeTest
@ContextConfiguration(initializers = AbsentPeer.class)
class ServerTimingTest {

	private static final String TIMING = "Server-Timing";

	private final HttpClient client = HttpClient.newHttpClient();

	private final URI node;

	ServerTimingTest(@LocalServerPort int port) {
		this.node = URI.create("http://localhost:" + port);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			PUT    | /v0/entity?id=a&replicas=1/2       | 201 | store ok
			GET    | /v0/entity?id=a&replicas=1/2       | 200 | read ok
			GET    | /v0/entity?id=absent&replicas=1/2  | 404 | read ok
			DELETE | /v0/entity?id=gone&replicas=1/2    | 202 | store ok
			GET    | /v0/entity?id=a                    | 504 | read away
			PUT    | /v0/entity?id=a                    | 504 | versions away
			GET    | /v0/entities?start=a&scope=node    | 200 | page ok
			GET    | /v0/entities?start=a               | 504 | page away
			""")
	void timesAreThereWhereTheyAreAskedForAndNowhereElse(String method, String target, int status, String replica)
			throws Exception {
		send("PUT", "/v0/entity?id=a&replicas=1/2", "Accept", "*/*");
		HttpResponse<Void> asked = send(method, target, "Kvorum-Timing", "1");
		assertThat(asked.statusCode()).isEqualTo(status);
		assertThat(asked.headers().allValues(TIMING)).singleElement()
			.asString()
			.startsWith("total;dur=")
			.contains(" " + replica + "\"");
		HttpResponse<Void> notAsked = send(method, target, "Accept", "*/*");
		assertThat(notAsked.statusCode()).isEqualTo(status);
		assertThat(notAsked.headers().allValues(TIMING)).isEmpty();
	}

	private HttpResponse<Void> send(String method, String target, String... headers) throws Exception {
		HttpRequest request = HttpRequest.newBuilder(this.node.resolve(target))
			.headers(headers)
			.method(method, method.equals("PUT") ? BodyPublishers.ofString("x") : BodyPublishers.noBody())
			.build();
		return this.client.send(request, BodyHandlers.discarding());
	}

}
