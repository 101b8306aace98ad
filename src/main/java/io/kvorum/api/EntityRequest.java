package io.kvorum.api;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.operation.ReplicationPolicy;
import io.kvorum.operation.ReplicationPolicy.Consistency;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a request to {@code /v0/entity}.
 *
 * @param key the entity
 * @param replicas the number of replicas to ask and to wait for
 * @param ttl how long a value lives; null if it does not expire
 * @param timeout the longest time that the client waits; null if it does not say
 * @param policy the replication by which the numbers were read
 */
record EntityRequest(Key key, Replicas replicas, @Nullable Ttl ttl, @Nullable Duration timeout,
		ReplicationPolicy policy) {

	private static final Pattern ACK_FROM = Pattern.compile("([0-9]{1,3})/([0-9]{1,3})");

	private static final Pattern NUMBER = Pattern.compile("[0-9]{1,3}");

	private static final Pattern TIMEOUT = Pattern.compile("([1-9][0-9]{0,8})(ms|s)");

	/**
	 * Parses a raw query string.
	 * @throws ProblemException if a parameter is missing or not possible
	 */
	static EntityRequest parse(@Nullable String rawQuery, ReplicationPolicy policy) {
		QueryParameters query = new QueryParameters(rawQuery);
		Key key = key(query);
		if (key.bytes().length + "id=".length() == query.length()) {
			// Nothing but the id: most requests.
			return new EntityRequest(key, policy.defaults(), null, null, policy);
		}
		return new EntityRequest(key, replicas(query, policy), ttl(query), timeout(query), policy);
	}

	/**
	 * The request at the level that its header {@code Kvorum-Consistency} asks for.
	 * @param wanted null if it does not say
	 */
	EntityRequest at(@Nullable String wanted) {
		if (wanted == null) {
			return this;
		}
		return switch (wanted) {
			case "eventual" -> new EntityRequest(this.key, this.replicas.relax(), this.ttl, this.timeout, this.policy);
			case "linearizable" -> {
				if (consistency() != Consistency.LINEARIZABLE) {
					throw badReplicas("%s is not linearizable: leave 'replicas', 'ack' and 'from' out, or ask for %s."
						.formatted(this.replicas, this.policy.defaults()));
				}
				yield this;
			}
			default -> throw badReplicas("'Kvorum-Consistency' is 'linearizable' or 'eventual'.");
		};
	}

	/** The consistency of the operation if it begins now. */
	Consistency consistency() {
		return this.policy.consistencyOf(this.replicas);
	}

	/**
	 * The consistency of the operation, once it is over. If the factor has changed since
	 * it began, it is linearizable only if it is that by both factors.
	 * @param now the replication at its end
	 */
	Consistency consistencyUntil(ReplicationPolicy now) {
		Consistency begun = consistency();
		return (begun == now.consistencyOf(this.replicas)) ? begun : Consistency.EVENTUAL;
	}

	private static Key key(QueryParameters query) {
		byte[] id = query.bytes("id");
		if (id == null || id.length == 0) {
			throw ProblemException.badRequest(ProblemType.MISSING_ID,
					"The parameter 'id' is missing or empty. Name the entity: /v0/entity?id=<key>.");
		}
		if (id.length > Key.MAX_LENGTH_BYTES) {
			throw ProblemException.badRequest(ProblemType.ID_TOO_LONG,
					"The id has %d bytes, the limit is %d bytes after decoding.".formatted(id.length,
							Key.MAX_LENGTH_BYTES));
		}
		return Key.of(id);
	}

	private static Replicas replicas(QueryParameters query, ReplicationPolicy policy) {
		String both = query.text("replicas");
		String ack = query.text("ack");
		String from = query.text("from");
		if (both == null && ack == null && from == null) {
			return policy.defaults();
		}
		if (both != null && (ack != null || from != null)) {
			throw badReplicas("Say it either as 'replicas=<ack>/<from>' or as 'ack=<ack>&from=<from>', not as both.");
		}
		if (both != null) {
			Matcher matcher = ACK_FROM.matcher(both);
			if (!matcher.matches()) {
				throw badReplicas("'replicas' is '<ack>/<from>', two whole numbers, such as 'replicas=2/3'.");
			}
			return replicas(matcher.group(1), matcher.group(2), policy);
		}
		if (ack == null || from == null || !NUMBER.matcher(ack).matches() || !NUMBER.matcher(from).matches()) {
			throw badReplicas("'ack' and 'from' go together and are whole numbers, such as 'ack=2&from=3'.");
		}
		return replicas(ack, from, policy);
	}

	private static Replicas replicas(String ackText, String fromText, ReplicationPolicy policy) {
		int ack = Integer.parseInt(ackText);
		int from = Integer.parseInt(fromText);
		if (!policy.allows(ack, from)) {
			throw badReplicas(policy.acks().isEmpty()
					? "%d/%d is not possible: 1 <= ack <= from <= %d, the nodes of this cluster.".formatted(ack, from,
							Math.min(policy.nodes(), Entry.MAX_COPIES))
					: "%d/%d is not possible: each key has %d replicas, and an operation can wait for %s of them."
						.formatted(ack, from, policy.factor(), among(policy.acks())));
		}
		return new Replicas(ack, from);
	}

	private static String among(List<Integer> numbers) {
		return numbers.stream().map(String::valueOf).collect(Collectors.joining(" or "));
	}

	private static @Nullable Ttl ttl(QueryParameters query) {
		String text = query.text("ttl");
		if (text == null) {
			return null;
		}
		try {
			return Ttl.parse(text);
		}
		catch (IllegalArgumentException ex) {
			throw ProblemException.badRequest(ProblemType.BAD_TTL,
					"The parameter 'ttl' cannot be used: " + ex.getMessage() + ".");
		}
	}

	private static @Nullable Duration timeout(QueryParameters query) {
		String text = query.text("timeout");
		if (text == null) {
			return null;
		}
		Matcher matcher = TIMEOUT.matcher(text);
		if (!matcher.matches()) {
			throw ProblemException.badRequest(ProblemType.BAD_TIMEOUT,
					"The parameter 'timeout' cannot be used: it is a number of 1 to 9 digits, above 0, with a unit: 250ms or 2s.");
		}
		long amount = Long.parseLong(matcher.group(1));
		return matcher.group(2).equals("s") ? Duration.ofSeconds(amount) : Duration.ofMillis(amount);
	}

	private static ProblemException badReplicas(String detail) {
		return ProblemException.badRequest(ProblemType.BAD_REPLICAS, detail);
	}

}
