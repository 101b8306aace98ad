package io.kvorum.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import io.kvorum.cli.Server.Mark;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Asks the gateways for each key of the retired nodes, which they thereby take over, and
 * compares what they have then with what the nodes have.
 */
@Command(name = "migrate",
		description = "Has gateways take over all keys of retired nodes, and compares each with what it was.",
		footerHeading = "%nExamples:%n",
		footer = {
				"  kvorum migrate --from http://kvorum-0:8080,http://kvorum-1:8080 --to http://gateway:8080 --state moved.json",
				"  kvorum migrate --from http://kvorum-0:8080 --to http://gateway:8080 --rate 200    # beside busy clients",
				"", "Run it again to compare again. With --state it resumes where it stopped.",
				"Exit code 1: the gateways have another value of a key with the same version, or an older one,",
				"or more keys in a row are missing there than --gone allows.",
				"Exit code 3: keys could not be taken over, or a node was away whose keys are not all listed." })
final class MigrateCommand extends RemoteCommand {

	private static final int MAX_PARALLEL = 256;

	private static final int PAGE = 500;

	/** Seconds that a page may take, so that the node does not give the reader up. */
	private static final int PAGE_SECONDS = 5;

	private static final int MAX_PATIENCE_SECONDS = 3600;

	/** The longest delay that pacing makes up for. */
	private static final long MADE_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(5);

	/** Differing keys that are named. */
	private static final int MAX_NAMED = 10;

	/** The failures in a row after which the gateways, not the keys, are to blame. */
	private static final int MAX_IN_A_ROW = 50;

	private static final String TAKEOVER = "Kvorum-Takeover";

	private static final Mark GATEWAY = new Mark(TAKEOVER, "gateway", "a gateway with kvorum.takeover.from");

	private static final Mark RETIRED = new Mark(TAKEOVER, "retired", "a retired node");

	/** Bytes of a value that are compared at once: values may be larger than the heap. */
	private static final int PART_BYTES = 16 << 10;

	/** Statuses that a gateway may send before it identifies itself. */
	private static final Set<Integer> REFUSALS = Set.of(401, 403, 429);

	/** The headers of all requests to gateways. */
	private static final String[] HEADERS = { TAKEOVER, "true", "Kvorum-Consistency", "eventual" };

	private static final JsonMapper JSON = new JsonMapper();

	@Option(names = "--from", required = true, paramLabel = "<url>", split = ",",
			description = "the retired nodes: the next one is asked if one does not answer")
	private List<URI> from = List.of();

	@Option(names = "--to", required = true, paramLabel = "<url>", split = ",", description = "the gateways")
	private List<URI> to = List.of();

	@Option(names = "--rate", paramLabel = "<n>", description = "keys a second. Default: as fast as it goes")
	private @Nullable Integer rate;

	@Option(names = "--parallel", paramLabel = "<n>", defaultValue = "16",
			description = "keys at a time, up to " + MAX_PARALLEL + ". Default: ${DEFAULT-VALUE}")
	private int parallel;

	@Option(names = "--patience", paramLabel = "<s>", defaultValue = "10",
			description = "how long to retry a request that was not applied, in seconds. Default: ${DEFAULT-VALUE}")
	private int patienceSeconds;

	@Option(names = "--gone", paramLabel = "<n>", defaultValue = "50",
			description = "stop if more keys in a row than this are missing at the gateways. Default: ${DEFAULT-VALUE}")
	private int mostGone;

	@Option(names = "--state", paramLabel = "<file>",
			description = "file that records progress, to resume after a break. It is removed at the end")
	private @Nullable Path state;

	private final LongAdder same = new LongAdder();

	private final LongAdder changed = new LongAdder();

	private final LongAdder gone = new LongAdder();

	private final LongAdder different = new LongAdder();

	private final LongAdder failed = new LongAdder();

	private final AtomicInteger inARow = new AtomicInteger();

	private final AtomicInteger goneInARow = new AtomicInteger();

	/** Nodes that were no member at some time: what they alone have is not listed. */
	private final Set<String> away = new TreeSet<>();

	private long due;

	private long reported;

	@Override
	ExitCode run() throws IOException, InterruptedException, ExecutionException {
		if (this.parallel < 1 || this.parallel > MAX_PARALLEL || (this.rate != null && this.rate < 1)
				|| this.patienceSeconds < 0 || this.patienceSeconds > MAX_PATIENCE_SECONDS) {
			throw new CommandFailedException(ExitCode.WRONG,
					"--parallel is 1 to %d, --rate is 1 or more, --patience is 0 to %d".formatted(MAX_PARALLEL,
							MAX_PATIENCE_SECONDS));
		}
		Server source = options().server(this.from);
		Server target = options().server(this.to);
		requireGateways(target);
		String next = resume();
		noteAway(source);
		this.due = System.nanoTime();
		this.reported = this.due;
		try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
			while (next != null) {
				next = page(next, source, target.marked(GATEWAY), threads);
				noteAway(source);
				save(next);
				if (System.nanoTime() - this.reported > REPORT_NANOS && next != null) {
					this.reported = System.nanoTime();
					out().println(summary() + " so far");
					requireOutput();
				}
			}
		}
		out().println(summary());
		if (!this.away.isEmpty()) {
			out().println("The comparison is incomplete: %s was away, and entries that only it has are not listed. "
				.formatted(String.join(", ", this.away)) + "Run it again when all nodes are there.");
		}
		return (this.different.sum() > 0) ? ExitCode.NO
				: (this.failed.sum() > 0 || !this.away.isEmpty()) ? ExitCode.NOT_DONE : ExitCode.DONE;
	}

	private void noteAway(Server source) throws IOException, InterruptedException {
		for (JsonNode node : patiently(() -> source.json("/v0/cluster")).path("nodes")) {
			String address = node.path("address").asString("?");
			if (!node.path("state").asString("").equals("member")) {
				this.away.add(address);
			}
			else if (!node.path("retired").asBoolean(false)) {
				throw new CommandFailedException(ExitCode.WRONG, address
						+ " is not retired: what it acknowledges is not taken over. Start it with kvorum.api.retired=true");
			}
		}
	}

	/** A gateway that takes nothing over would say of each key that it is gone. */
	private static void requireGateways(Server target) throws InterruptedException {
		for (URI gateway : target.nodes()) {
			HttpResponse<Void> answer;
			try {
				answer = target.client()
					.send(target.request(gateway, "HEAD", "/v0/entity?id=", BodyPublishers.noBody(), HEADERS),
							BodyHandlers.discarding());
			}
			catch (IOException ex) {
				throw new CommandFailedException(ExitCode.NOT_DONE,
						"%s cannot be reached (%s): start it, or leave it out of --to".formatted(gateway, ex));
			}
			if (REFUSALS.contains(answer.statusCode())) {
				throw new CommandFailedException(ExitCode.WRONG,
						"%s refuses the request (%d): check the API key and its limits".formatted(gateway,
								answer.statusCode()),
						answer.statusCode());
			}
			if (!header(answer, TAKEOVER).equals("gateway")) {
				throw new CommandFailedException(ExitCode.WRONG,
						gateway + " takes no keys over: start it with kvorum.takeover.from");
			}
		}
	}

	/**
	 * Compares the keys of one page; returns where the next one begins, null if this was
	 * the last.
	 */
	private @Nullable String page(String start, Server source, Server target, ExecutorService threads)
			throws IOException, InterruptedException, ExecutionException {
		int limit = (this.rate != null) ? (int) Math.min(PAGE, Math.multiplyFull(this.rate, PAGE_SECONDS)) : PAGE;
		Target listing = Target.of("/v0/entities")
			.with("prefix", "")
			.with("values", false)
			.with("start", start.isEmpty() ? null : start)
			.with("limit", limit);
		Semaphore room = new Semaphore(this.parallel);
		List<Future<?>> running = new ArrayList<>();
		HttpResponse<InputStream> answer = patiently(
				() -> source.get(listing.toString(), "Accept", "application/x-ndjson", TAKEOVER, "true"));
		requireRetired(answer);
		JsonNode end = null;
		try (BufferedReader lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				JsonNode entry = JSON.readTree(line);
				if (entry.has("end")) {
					end = entry;
					break;
				}
				pace();
				room.acquire();
				running.add(threads.submit(() -> {
					try {
						compare(entry, source.marked(RETIRED), target);
					}
					finally {
						room.release();
					}
					return null;
				}));
			}
		}
		for (Future<?> each : running) {
			await(each);
		}
		if (end == null) {
			throw new CommandFailedException(ExitCode.NOT_DONE,
					"the list of keys broke off: run the command again, with the same --state if any");
		}
		return end.has("next") ? end.path("next").asString() : null;
	}

	private static void await(Future<?> comparison) throws IOException, InterruptedException, ExecutionException {
		try {
			comparison.get();
		}
		catch (ExecutionException ex) {
			switch (ex.getCause()) {
				case CommandFailedException failed -> throw failed;
				case IOException brokenOff -> throw brokenOff;
				case Error error -> throw error;
				case null, default -> throw ex;
			}
		}
	}

	private static void requireRetired(HttpResponse<InputStream> answer) throws IOException {
		if (!header(answer, TAKEOVER).equals("retired")) {
			answer.body().close();
			throw new CommandFailedException(ExitCode.WRONG,
					answer.uri().getAuthority() + " is not retired: set kvorum.api.retired=true on each of the nodes");
		}
	}

	/** Waits until the next key may begin. */
	private void pace() throws InterruptedException {
		if (this.rate != null) {
			this.due = due(this.due, System.nanoTime());
			// A rate has no event to wait for.
			TimeUnit.NANOSECONDS.sleep(this.due - System.nanoTime());
			this.due += TimeUnit.SECONDS.toNanos(1) / this.rate;
		}
	}

	/**
	 * When a key begins that was due at some time. Of a long wait, as for a gateway that
	 * restarts, next to nothing is made up for: that would be a burst.
	 */
	static long due(long due, long now) {
		long earliest = now - MADE_UP_NANOS;
		return (due - earliest < 0) ? earliest : due;
	}

	private void compare(JsonNode entry, Server source, Server target) throws IOException, InterruptedException {
		String key = entry.path("id").asString();
		String entity = Target.entity(key).toString();
		Verdict verdict;
		try {
			// What this answers may be what the gateway has got from the nodes.
			patiently(() -> target.send("HEAD", entity, BodyPublishers.noBody(), HEADERS)).body().close();
			verdict = patiently(() -> verdict(entry.path("version").asString(), target.get(entity, HEADERS),
					() -> source.get(entity, TAKEOVER, "true")));
		}
		catch (CommandFailedException ex) {
			if (ex.status() == 404 && ex.exitCode() == ExitCode.NO) {
				this.inARow.set(0);
				gone(key);
			}
			else {
				fail(key, ex);
			}
			return;
		}
		this.inARow.set(0);
		this.goneInARow.set(0);
		switch (verdict) {
			case SAME -> this.same.increment();
			case CHANGED -> this.changed.increment();
			case DIFFERENT -> name(key);
		}
	}

	/**
	 * Compares what a gateway has with what the nodes have, part by part.
	 * @param listed the version that the nodes have
	 * @param nodes reads the value from them
	 */
	private static Verdict verdict(String listed, HttpResponse<InputStream> moved,
			Request<HttpResponse<InputStream>> nodes) {
		try (InputStream value = moved.body()) {
			int order = StatCommand.version(moved).compareTo(listed);
			if (order != 0) {
				// What clients write at gateways is newer.
				return (order > 0) ? Verdict.CHANGED : Verdict.DIFFERENT;
			}
			HttpResponse<InputStream> kept = nodes.send();
			try (InputStream expected = kept.body()) {
				return (StatCommand.version(kept).equals(listed)
						&& header(kept, "Content-Type").equals(header(moved, "Content-Type"))
						&& areEqual(value, expected)) ? Verdict.SAME : Verdict.DIFFERENT;
			}
		}
		catch (IOException ex) {
			throw new CommandFailedException(ExitCode.NOT_DONE, "the value broke off: " + ex.getMessage());
		}
	}

	private static boolean areEqual(InputStream one, InputStream other) throws IOException {
		byte[] part = one.readNBytes(PART_BYTES);
		while (part.length > 0 && Arrays.equals(part, other.readNBytes(PART_BYTES))) {
			part = one.readNBytes(PART_BYTES);
		}
		return part.length == 0 && other.read() < 0;
	}

	private synchronized void name(String key) {
		this.different.increment();
		if (this.different.sum() <= MAX_NAMED) {
			out().println("different: " + Table.printable(key));
		}
	}

	/**
	 * Stops when too many keys in a row are missing. A gateway that takes over from other
	 * nodes, or that did so before these nodes had the keys, reports all keys as missing.
	 */
	private synchronized void gone(String key) {
		this.gone.increment();
		if (this.gone.sum() <= MAX_NAMED) {
			out().println("removed or expired since: " + Table.printable(key));
		}
		if (this.goneInARow.incrementAndGet() > this.mostGone) {
			throw new CommandFailedException(ExitCode.NO,
					"stopped: more than %d keys in a row are missing at the gateways. If clients deleted them, raise --gone. Otherwise the gateways take over from other nodes, or their keyspace is left over from an earlier attempt. Last key: %s"
						.formatted(this.mostGone, Table.printable(key)));
		}
	}

	private synchronized void fail(String key, CommandFailedException why) {
		if (!why.mayPass()) {
			throw why;
		}
		if (this.inARow.incrementAndGet() > MAX_IN_A_ROW) {
			throw new CommandFailedException(ExitCode.NOT_DONE,
					"stopped: more than %d keys in a row could not be taken over. Last key: %s: %s"
						.formatted(MAX_IN_A_ROW, Table.printable(key), why.getMessage()));
		}
		this.failed.increment();
		out().println("not taken over: %s: %s".formatted(Table.printable(key), why.getMessage()));
	}

	private static String header(HttpResponse<?> answer, String name) {
		return answer.headers().firstValue(name).orElse("");
	}

	private <T> T patiently(Request<T> request) throws IOException, InterruptedException {
		return patiently(Duration.ofSeconds(this.patienceSeconds), request);
	}

	private String summary() {
		String compared = "%d keys: %d the same, %d written since, %d removed or expired since, %d different".formatted(
				this.same.sum() + this.changed.sum() + this.gone.sum() + this.different.sum() + this.failed.sum(),
				this.same.sum(), this.changed.sum(), this.gone.sum(), this.different.sum());
		return (this.failed.sum() > 0) ? compared + ", %d not taken over".formatted(this.failed.sum()) : compared;
	}

	/** Where to begin: an empty text for the first key. */
	private String resume() throws IOException {
		if (this.state == null || !Files.exists(this.state)) {
			return "";
		}
		JsonNode done;
		try {
			done = JSON.readTree(Files.readString(this.state));
		}
		catch (JacksonException ex) {
			throw new CommandFailedException(ExitCode.WRONG, "%s is damaged (%s): remove it to begin with the first key"
				.formatted(this.state, ex.getOriginalMessage()));
		}
		if (!done.path("from").asString("").equals(this.from.toString())
				|| !done.path("to").asString("").equals(this.to.toString())) {
			throw new CommandFailedException(ExitCode.WRONG,
					"%s is of a migration between other nodes: remove it, or name another file".formatted(this.state));
		}
		this.same.add(done.path("same").asLong());
		this.changed.add(done.path("changed").asLong());
		this.gone.add(done.path("gone").asLong());
		this.different.add(done.path("different").asLong());
		this.failed.add(done.path("failed").asLong());
		done.path("away").forEach(node -> this.away.add(node.asString()));
		return done.path("next").asString();
	}

	private void save(@Nullable String next) throws IOException {
		if (this.state == null) {
			return;
		}
		if (next == null) {
			Files.deleteIfExists(this.state);
			return;
		}
		ObjectNode done = JSON.createObjectNode();
		done.put("from", this.from.toString()).put("to", this.to.toString()).put("next", next);
		done.put("same", this.same.sum()).put("changed", this.changed.sum());
		done.put("gone", this.gone.sum()).put("different", this.different.sum());
		done.put("failed", this.failed.sum());
		this.away.forEach(done.putArray("away")::add);
		Path written = this.state.resolveSibling(this.state.getFileName() + ".part");
		Files.writeString(written, done.toString());
		Files.move(written, this.state, StandardCopyOption.REPLACE_EXISTING);
	}

	/** What a gateway has of a key, beside what the nodes have. */
	private enum Verdict {

		SAME, CHANGED, DIFFERENT

	}

}
