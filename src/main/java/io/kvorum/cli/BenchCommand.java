package io.kvorum.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

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
				|| this.reads < 0 || this.reads > 100 || this.valueSize < 0) {
			throw new CommandFailedException(ExitCode.WRONG,
					"--seconds, --keys and --connections are 1 or more, --reads is a percentage");
		}
		Server server = server();
		long started = System.nanoTime();
		long end = started + Duration.ofSeconds(this.seconds).toNanos();
		List<Future<Load>> running = new ArrayList<>();
		Load reads = new Load(0);
		Load writes = new Load(0);
		try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
			for (int i = 0; i < this.connections; i++) {
				URI node = server.nodes().get(i % server.nodes().size());
				SplittableRandom random = new SplittableRandom(i);
				Load ofReads = new Load(MAX_SAMPLES / (2 * this.connections));
				Load ofWrites = new Load(MAX_SAMPLES / (2 * this.connections));
				running.add(threads.submit(() -> load(server, node, random, end, ofReads, ofWrites)));
				reads.parts.add(ofReads);
				writes.parts.add(ofWrites);
			}
			for (Future<Load> each : running) {
				each.get();
			}
		}
		double time = (System.nanoTime() - started) / 1e9;
		Table table = new Table("REQUESTS", "ANSWERED", "A SECOND", "P50", "P99", "SLOWEST", "FAILED");
		reads.add("reads", time, table);
		writes.add("writes", time, table);
		table.print(out());
		for (Load kind : List.of(reads, writes)) {
			for (Load part : kind.parts) {
				if (!part.failure.isEmpty()) {
					out().println("A request failed: " + Table.printable(part.failure));
					return ExitCode.NO;
				}
			}
		}
		return ExitCode.DONE;
	}

	private Load load(Server server, URI node, SplittableRandom random, long end, Load reads, Load writes)
			throws InterruptedException {
		byte[] value = new byte[this.valueSize];
		random.nextBytes(value);
		while (System.nanoTime() < end) {
			boolean isRead = random.nextInt(100) < this.reads;
			Target target = Target.entity(this.prefix + random.nextInt(this.keys)).with("ttl", isRead ? null : "1h");
			HttpRequest request = isRead ? server.request(node, "GET", target.toString(), BodyPublishers.noBody())
					: server.request(node, "PUT", target.toString(), BodyPublishers.ofByteArray(value));
			send(server, request, isRead ? reads : writes);
		}
		return reads;
	}

	private static void send(Server server, HttpRequest request, Load load) throws InterruptedException {
		long started = System.nanoTime();
		try {
			HttpResponse<byte[]> answer = server.client().send(request, BodyHandlers.ofByteArray());
			if (answer.statusCode() < 400 || answer.statusCode() == 404) {
				load.answered(System.nanoTime() - started);
			}
			else {
				load.failed("status " + answer.statusCode() + " of " + answer.uri().getHost());
			}
		}
		catch (IOException ex) {
			load.failed(String.valueOf(ex));
		}
	}

	/**
	 * The requests of one kind. One thread counts in each; those of all are added up at
	 * the end. Of very many times a random part is kept.
	 */
	private static final class Load {

		private final List<Load> parts = new ArrayList<>();

		private final SplittableRandom random = new SplittableRandom(1);

		private final long[] nanos;

		private long count;

		private long failures;

		private String failure = "";

		Load(int samples) {
			this.nanos = new long[samples];
		}

		void answered(long time) {
			long place = (this.count < this.nanos.length) ? this.count : this.random.nextLong(this.count);
			if (place < this.nanos.length) {
				this.nanos[(int) place] = time;
			}
			this.count++;
		}

		void failed(String why) {
			this.failures++;
			this.failure = why;
		}

		void add(String name, double seconds, Table table) {
			long[] all = this.parts.stream()
				.flatMapToLong(part -> Arrays.stream(part.nanos, 0, (int) Math.min(part.count, part.nanos.length)))
				.sorted()
				.toArray();
			long answered = this.parts.stream().mapToLong(part -> part.count).sum();
			long failed = this.parts.stream().mapToLong(part -> part.failures).sum();
			if (answered + failed > 0) {
				table.add(name, Long.toString(answered), String.format(Locale.ROOT, "%.0f", answered / seconds),
						millis(all, 0.5), millis(all, 0.99), millis(all, 1), Long.toString(failed));
			}
		}

		private static String millis(long[] sorted, double part) {
			return (sorted.length == 0) ? ""
					: String.format(Locale.ROOT, "%.2f ms", sorted[(int) Math.ceil(part * (sorted.length - 1))] / 1e6);
		}

	}

}
