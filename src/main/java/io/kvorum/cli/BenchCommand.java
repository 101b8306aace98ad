package io.kvorum.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "bench",
		description = "Reads and writes random keys for a minute, and shows how fast the cluster was. "
				+ "The keys begin with --prefix, and are gone after an hour.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum bench", "  kvorum bench --seconds 10 --connections 16 --reads 90 --value-size 1024", "",
				"Each connection sends its next request when the last one is answered, so this shows what the cluster",
				"can do, and not how long requests take at a given rate: use wrk2 or Gatling for that." })
final class BenchCommand extends RemoteCommand {

	private static final int MAX_CONNECTIONS = 1000;

	/** Times that are kept, of all connections together. */
	private static final int MAX_SAMPLES = 1_000_000;

	@Option(names = "--seconds", paramLabel = "<n>", defaultValue = "60",
			description = "how long. Default: ${DEFAULT-VALUE}")
	private int seconds;

	@Option(names = "--connections", paramLabel = "<n>", defaultValue = "32",
			description = "requests at a time, up to " + MAX_CONNECTIONS + ". Default: ${DEFAULT-VALUE}")
	private int connections;

	@Option(names = "--reads", paramLabel = "<percent>", defaultValue = "50",
			description = "part of the requests that read. Default: ${DEFAULT-VALUE}")
	private int reads;

	@Option(names = "--keys", paramLabel = "<n>", defaultValue = "10000",
			description = "number of keys. Default: ${DEFAULT-VALUE}")
	private int keys;

	@Option(names = "--value-size", paramLabel = "<bytes>", defaultValue = "100",
			description = "size of a value. Default: ${DEFAULT-VALUE}")
	private int valueSize;

	@Option(names = "--prefix", paramLabel = "<text>", defaultValue = "bench/",
			description = "beginning of the keys. Default: ${DEFAULT-VALUE}")
	private String prefix = "";

	@Override
	ExitCode run() throws InterruptedException, ExecutionException {
		if (this.seconds < 1 || this.connections < 1 || this.connections > MAX_CONNECTIONS || this.keys < 1
				|| this.reads < 0 || this.reads > 100 || this.valueSize < 0
				|| this.valueSize > Server.MAX_VALUE_BYTES) {
			throw new CommandFailedException(ExitCode.WRONG,
					"--seconds, --keys and --connections are 1 or more, --reads is a percentage, a value has up to %d bytes"
						.formatted(Server.MAX_VALUE_BYTES));
		}
		Server server = server().ofEntities();
		byte[] value = new byte[this.valueSize];
		new SplittableRandom().nextBytes(value);
		List<BenchTimes> reads = new ArrayList<>();
		List<BenchTimes> writes = new ArrayList<>();
		List<Future<?>> running = new ArrayList<>();
		long started = System.nanoTime();
		long end = started + Duration.ofSeconds(this.seconds).toNanos();
		try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
			for (int i = 0; i < this.connections; i++) {
				URI node = server.nodes().get(i % server.nodes().size());
				BenchTimes ofReads = new BenchTimes(MAX_SAMPLES / (2 * this.connections));
				BenchTimes ofWrites = new BenchTimes(MAX_SAMPLES / (2 * this.connections));
				reads.add(ofReads);
				writes.add(ofWrites);
				running.add(threads.submit(() -> {
					load(server, node, value, end, ofReads, ofWrites);
					return null;
				}));
			}
			for (Future<?> each : running) {
				each.get();
			}
		}
		double time = (System.nanoTime() - started) / 1e9;
		Table table = new Table("REQUESTS", "ANSWERED", "A SECOND", "P50", "P99", "SLOWEST", "FAILED");
		add("reads", reads, time, table);
		add("writes", writes, time, table);
		table.print(out());
		String failure = Stream.concat(reads.stream(), writes.stream())
			.map(BenchTimes::failure)
			.filter(it -> !it.isEmpty())
			.findFirst()
			.orElse("");
		if (!failure.isEmpty()) {
			out().println("A request failed: " + Table.printable(failure));
			return ExitCode.NO;
		}
		return ExitCode.DONE;
	}

	private void load(Server server, URI node, byte[] value, long end, BenchTimes reads, BenchTimes writes)
			throws InterruptedException {
		SplittableRandom random = new SplittableRandom();
		while (System.nanoTime() < end) {
			boolean isRead = random.nextInt(100) < this.reads;
			Target target = Target.entity(this.prefix + random.nextInt(this.keys)).with("ttl", isRead ? null : "1h");
			HttpRequest request = isRead ? server.request(node, "GET", target.toString(), BodyPublishers.noBody())
					: server.request(node, "PUT", target.toString(), BodyPublishers.ofByteArray(value));
			send(server, request, isRead ? reads : writes);
		}
	}

	/** Where there are no keys a write is answered with {@code 404} too. */
	private static void send(Server server, HttpRequest request, BenchTimes times) throws InterruptedException {
		long started = System.nanoTime();
		try {
			HttpResponse<byte[]> answer = server.client().send(request, BodyHandlers.ofByteArray());
			long time = System.nanoTime() - started;
			CommandFailedException failure = server.failureOfAnother(answer);
			if (failure != null) {
				times.failed(String.valueOf(failure.getMessage()));
			}
			else if (answer.statusCode() / 100 == 2 || (answer.statusCode() == 404 && request.method().equals("GET"))) {
				times.answered(time);
			}
			else {
				times.failed("status " + answer.statusCode() + " of " + answer.uri().getHost());
			}
		}
		catch (IOException ex) {
			times.failed(String.valueOf(ex));
		}
	}

	private static void add(String name, List<BenchTimes> parts, double seconds, Table table) {
		long[] all = parts.stream().flatMapToLong(BenchTimes::kept).sorted().toArray();
		long answered = parts.stream().mapToLong(BenchTimes::count).sum();
		long failed = parts.stream().mapToLong(BenchTimes::failures).sum();
		if (answered + failed > 0) {
			table.add(name, Long.toString(answered), String.format(Locale.ROOT, "%.0f", answered / seconds),
					part(all, 0.5), part(all, 0.99), (answered > 0) ? millis(BenchTimes.slowest(parts)) : "",
					Long.toString(failed));
		}
	}

	private static String part(long[] sorted, double part) {
		return (sorted.length == 0) ? "" : millis(sorted[(int) Math.ceil(part * (sorted.length - 1))]);
	}

	private static String millis(long nanos) {
		return String.format(Locale.ROOT, "%.2f ms", nanos / 1e6);
	}

}
