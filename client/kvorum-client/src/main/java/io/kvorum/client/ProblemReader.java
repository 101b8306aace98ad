package io.kvorum.client;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.kvorum.client.KvorumException.AccessDenied;
import io.kvorum.client.KvorumException.ConditionNotMet;
import io.kvorum.client.KvorumException.Contention;
import io.kvorum.client.KvorumException.IdempotencyKeyReused;
import io.kvorum.client.KvorumException.InvalidRequest;
import io.kvorum.client.KvorumException.NoSpace;
import io.kvorum.client.KvorumException.NotEnoughReplicas;
import io.kvorum.client.KvorumException.Overloaded;
import io.kvorum.client.KvorumException.RequestUnderWay;
import io.kvorum.client.KvorumException.UnexpectedAnswer;
import io.kvorum.client.KvorumException.ValueTooLarge;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;
import tools.jackson.core.JacksonException;

/** Reads answers that say why something was not done. */
final class ProblemReader {

	private static final String TYPE = "urn:kvorum:problem:";

	/** The header by which a node says that its keys have moved. */
	private static final String TAKEOVER = "Kvorum-Takeover";

	private static final int MAX_QUOTED = 200;

	private ProblemReader() {
	}

	/**
	 * The exception for an answer.
	 */
	static KvorumException read(URI node, Answer answer, Request request) {
		Problem problem = problem(answer, request);
		return switch (problem.name()) {
			case "unauthorized", "forbidden" -> new AccessDenied(problem, node);
			case "precondition-failed" -> new ConditionNotMet(problem, node);
			case "value-too-large" -> new ValueTooLarge(problem, node);
			case "idempotency-key-reused" -> new IdempotencyKeyReused(problem, node);
			case "request-under-way" -> new RequestUnderWay(problem, node);
			case "not-accepted", "too-many-requests", "request-timeout", Problem.RETIRED ->
				new Overloaded(problem, node, seconds(answer.header("Retry-After")));
			case "contention" -> new Contention(problem, node);
			case "not-enough-replicas" -> new NotEnoughReplicas(problem, node);
			case "no-space" -> new NoSpace(problem, node);
			case "none", "internal-error" -> new UnexpectedAnswer(problem, node);
			default -> new InvalidRequest(problem, node);
		};
	}

	private static @Nullable Duration seconds(@Nullable String retryAfter) {
		try {
			return (retryAfter != null) ? Duration.ofSeconds(Long.parseLong(retryAfter)) : null;
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	private static Problem problem(Answer answer, Request request) {
		int status = answer.status();
		byte[] body = answer.body();
		boolean isRead = request.isRead();
		if (request.method().equals(HttpMethod.HEAD)) {
			String name = Problem.RETIRED.equals(answer.header(TAKEOVER)) ? Problem.RETIRED : nameOf(status);
			return new Problem(name, status, "an answer without a body", Outcome.NOT_APPLIED,
					status == 429 || status >= 500, null, 0, 0, List.of());
		}
		Map<String, @Nullable Object> json = json(body);
		if (!(json.get("type") instanceof String type) || !type.startsWith(TYPE)) {
			// A proxy may have sent the request to a node, or not.
			return new Problem("none", status, quoted(status, body), isRead ? Outcome.NOT_APPLIED : Outcome.UNKNOWN,
					status == 429 || status >= 500, null, 0, 0, List.of());
		}
		Object outcome = json.get("outcome");
		// A later release may have outcomes that this client does not know.
		boolean isUnknown = !isRead && ((outcome != null) ? !outcome.equals("not-applied") : status >= 500);
		return new Problem(type.substring(TYPE.length()), status, text(json.get("detail")),
				isUnknown ? Outcome.UNKNOWN : Outcome.NOT_APPLIED,
				Boolean.TRUE.equals(json.get("retryable")) || mayBeRepeated(status), current(json.get("current")),
				number(json.get("required")), number(json.get("acknowledged")), replicas(json.get("replicas")));
	}

	/** What an answer without a body, to a HEAD, most likely says. */
	private static String nameOf(int status) {
		return switch (status) {
			case 400 -> "bad-request";
			case 401 -> "unauthorized";
			case 403 -> "forbidden";
			case 429 -> "too-many-requests";
			case 503 -> "not-accepted";
			case 504 -> "not-enough-replicas";
			default -> "none";
		};
	}

	/** Those of problems that are found before an operation begins, and do not say. */
	private static boolean mayBeRepeated(int status) {
		return status == 408 || status == 409 || status == 429 || status == 500 || status == 503;
	}

	private static Map<String, @Nullable Object> json(byte[] body) {
		try {
			return Json.object(body);
		}
		catch (JacksonException ex) {
			return Map.of();
		}
	}

	private static String quoted(int status, byte[] body) {
		String text = new String(body, 0, Math.min(body.length, MAX_QUOTED), StandardCharsets.UTF_8).strip();
		return text.isEmpty() ? "an answer without a body" : "no answer of Kvorum, status " + status + ": " + text;
	}

	private static @Nullable Version current(@Nullable Object etag) {
		return (etag instanceof String text) ? Version.orNull(text) : null;
	}

	private static String text(@Nullable Object value) {
		return (value != null) ? value.toString() : "";
	}

	private static int number(@Nullable Object value) {
		return (value instanceof Number number) ? number.intValue() : 0;
	}

	private static List<Problem.Replica> replicas(@Nullable Object value) {
		List<Problem.Replica> replicas = new ArrayList<>();
		if (value instanceof List<?> list) {
			for (Object each : list) {
				if (each instanceof Map<?, ?> replica) {
					replicas.add(new Problem.Replica(text(replica.get("node")), text(replica.get("outcome"))));
				}
			}
		}
		return replicas;
	}

}
