package io.kvorum.cli;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.List;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Nodes of a cluster, any of which answers any request. A request goes to the next one if
 * one certainly has not done it: it cannot be reached, or says so with its {@code 503}. A
 * {@code 503} of a proxy says nothing of the kind.
 */
final class Server {

	/** The largest value that any node takes. */
	static final int MAX_VALUE_BYTES = 64 << 20;

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);

	private static final JsonMapper JSON = new JsonMapper();

	private final List<URI> nodes;

	private final @Nullable String key;

	private final Duration timeout;

	private final HttpClient client;

	/** What each answer has to have; null if nothing is known. */
	private final @Nullable Mark mark;

	private Server(List<URI> nodes, @Nullable String key, Duration timeout, HttpClient client, @Nullable Mark mark) {
		this.nodes = List.copyOf(nodes);
		this.key = key;
		this.timeout = timeout;
		this.client = client;
		this.mark = mark;
	}

	static Server of(List<URI> nodes, @Nullable String key, @Nullable Path authorities, Duration timeout) {
		HttpClient.Builder client = HttpClient.newBuilder()
			.version(HttpClient.Version.HTTP_1_1)
			.connectTimeout(CONNECT_TIMEOUT);
		return new Server(nodes, key, timeout,
				((authorities != null) ? client.sslContext(trusting(authorities)) : client).build(), null);
	}

	private static SSLContext trusting(Path authorities) {
		try (InputStream in = Files.newInputStream(authorities)) {
			KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
			trusted.load(null, null);
			for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
				trusted.setCertificateEntry("ca-" + trusted.size(), certificate);
			}
			TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
			trust.init(trusted);
			SSLContext context = SSLContext.getInstance("TLS");
			context.init(null, trust.getTrustManagers(), null);
			return context;
		}
		catch (IOException | GeneralSecurityException ex) {
			throw new CommandFailedException(ExitCode.WRONG,
					"cannot read certificates from " + authorities + ": " + ex.getMessage());
		}
	}

	/** The first of the nodes alone, for what one node does and not the cluster. */
	Server first() {
		return new Server(this.nodes.subList(0, 1), this.key, this.timeout, this.client, this.mark);
	}

	/** The same with another time limit of an answer. */
	Server within(Duration time) {
		return new Server(this.nodes, this.key, time, this.client, this.mark);
	}

	/** The same with a longer time limit of an answer, which begins with the request. */
	Server slowerBy(Duration time) {
		return within(this.timeout.plus(time));
	}

	/** The same for values. A proxy or another server also knows {@code 404}. */
	Server ofEntities() {
		return marked(new Mark("Kvorum-Consistency", "", "a node"));
	}

	/** The same, of which an answer to a request of values has a header. */
	Server marked(Mark mark) {
		return new Server(this.nodes, this.key, this.timeout, this.client, mark);
	}

	/** The nodes, in the order in which they are asked. */
	List<URI> nodes() {
		return this.nodes;
	}

	HttpResponse<InputStream> get(String target, String... headers) {
		return send("GET", target, BodyPublishers.noBody(), headers);
	}

	/** Gets an object in JSON. */
	JsonNode json(String target) {
		return read(get(target), ExitCode.NOT_DONE);
	}

	/** Sends an object in JSON, and returns the one that is the answer. */
	JsonNode post(String target, String object) {
		return read(send("POST", target, BodyPublishers.ofString(object), "Content-Type", "application/json"),
				ExitCode.UNKNOWN);
	}

	private static JsonNode read(HttpResponse<InputStream> answer, ExitCode without) {
		try (InputStream body = answer.body()) {
			return JSON.readTree(body);
		}
		catch (IOException | JacksonException ex) {
			throw new CommandFailedException(without,
					"the answer of %s broke off, or is no JSON: %s".formatted(answer.uri(), ex.getMessage()));
		}
	}

	/**
	 * Sends a request to the first node that takes it.
	 * @param headers names and values in turn
	 * @return an answer with a status of 2xx
	 * @throws CommandFailedException for any other answer, or none
	 */
	HttpResponse<InputStream> send(String method, String target, BodyPublisher body, String... headers) {
		boolean isWrite = !method.equals("GET") && !method.equals("HEAD");
		CommandFailedException failed = null;
		for (URI node : this.nodes) {
			HttpRequest request = request(node, method, target, body, headers);
			try {
				HttpResponse<InputStream> answer = this.client.send(request, bodies());
				failed = failureOfAnother(answer);
				if (failed != null) {
					answer.body().close();
					break;
				}
				if (answer.statusCode() / 100 == 2) {
					return answer;
				}
				failed = failure(answer, isWrite);
				if (failed.status() != 503 || failed.exitCode() != ExitCode.NOT_DONE) {
					break;
				}
			}
			catch (ConnectException | HttpConnectTimeoutException | SSLHandshakeException ex) {
				failed = new CommandFailedException(ExitCode.NOT_DONE, node + " cannot be reached: " + reason(ex));
			}
			catch (IOException ex) {
				failed = new CommandFailedException(isWrite ? ExitCode.UNKNOWN : ExitCode.NOT_DONE,
						"%s has not answered%s: %s".formatted(node, isWrite ? ", and may have done it" : "",
								reason(ex)));
				if (isWrite) {
					break;
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
		}
		throw (failed != null) ? failed : new CommandFailedException(ExitCode.WRONG, "there is no node to ask");
	}

	/**
	 * What is wrong with an answer of something else than a node; null if it is one's.
	 */
	@Nullable CommandFailedException failureOfAnother(HttpResponse<?> answer) {
		String method = answer.request().method();
		boolean isWrite = !method.equals("GET") && !method.equals("HEAD");
		return (this.mark != null && this.mark.isMissing(answer)) ? this.mark.failure(answer, isWrite) : null;
	}

	private BodyHandler<InputStream> bodies() {
		return _ -> BodySubscribers.mapping(BodySubscribers.ofInputStream(), body -> new TimedBody(body, this.timeout));
	}

	/** A request to one node. */
	HttpRequest request(URI node, String method, String target, BodyPublisher body, String... headers) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(trimmed(node.toString()) + target))
			.method(method, body)
			.timeout(this.timeout);
		if (headers.length > 0) {
			request.headers(headers);
		}
		if (this.key != null) {
			request.header("Authorization", "Bearer " + this.key);
		}
		return request.build();
	}

	/** The client for those who send requests themselves. */
	HttpClient client() {
		return this.client;
	}

	private static String trimmed(String url) {
		return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
	}

	private static String reason(IOException ex) {
		String message = ex.getMessage();
		if (message != null) {
			return message;
		}
		return (ex.getCause() instanceof UnresolvedAddressException) ? "its name is not known"
				: (ex instanceof ConnectException) ? "nothing answers there" : ex.getClass().getSimpleName();
	}

	private static CommandFailedException failure(HttpResponse<InputStream> answer, boolean isWrite) {
		int status = answer.statusCode();
		if (status < 400) {
			return new CommandFailedException(ExitCode.WRONG, "%s redirects to %s: give the URL of a node (%d)"
				.formatted(answer.uri(), answer.headers().firstValue("Location").orElse("nowhere"), status));
		}
		JsonNode problem = problem(answer);
		String detail = problem.path("detail").asString("");
		if (detail.isEmpty() && !problem.isEmpty()) {
			// Spring Boot's own endpoints.
			detail = problem.toString();
		}
		String message = detail.isEmpty() ? "status %d of %s".formatted(status, answer.uri())
				: "%s (%d)".formatted(detail, status);
		return new CommandFailedException(exitCode(status, problem, isWrite), message, status);
	}

	private static ExitCode exitCode(int status, JsonNode problem, boolean isWrite) {
		return switch (status) {
			case 404, 412, 422 -> ExitCode.NO;
			case 409 -> problem.path("retryable").asBoolean(false) ? ExitCode.UNKNOWN : ExitCode.NO;
			case 501, 505 -> ExitCode.WRONG;
			default -> {
				boolean isKnown = problem.path("outcome").asString("").equals("not-applied");
				boolean isPassing = status == 408 || status == 429 || status >= 500;
				yield !isPassing ? ExitCode.WRONG : (isWrite && !isKnown) ? ExitCode.UNKNOWN : ExitCode.NOT_DONE;
			}
		};
	}

	private static JsonNode problem(HttpResponse<InputStream> answer) {
		try (InputStream body = answer.body()) {
			return JSON.readTree(body);
		}
		catch (IOException | JacksonException _) {
			return JSON.createObjectNode();
		}
	}

	/**
	 * A header that tells an answer from that of another server.
	 *
	 * @param beginning that of its value
	 * @param server which servers have it, in words
	 */
	record Mark(String header, String beginning, String server) {

		/**
		 * Whether an answer that says what there is does not have the header. Others say
		 * that it is not known.
		 */
		boolean isMissing(HttpResponse<?> answer) {
			int status = answer.statusCode();
			return (status / 100 == 2 || status == 404 || status == 412) && answer.headers()
				.firstValue(this.header)
				.filter(value -> value.startsWith(this.beginning))
				.isEmpty();
		}

		CommandFailedException failure(HttpResponse<?> answer, boolean isWrite) {
			return new CommandFailedException(isWrite ? ExitCode.UNKNOWN : ExitCode.NOT_DONE,
					"%s://%s is not %s: it answered %d without the header %s".formatted(answer.uri().getScheme(),
							answer.uri().getAuthority(), this.server, answer.statusCode(), this.header),
					answer.statusCode());
		}

	}

}
