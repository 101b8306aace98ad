package io.kvorum.campaign;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.kvorum.testing.KvorumClient;

/**
 * The part of {@code src/test/scripts/campaign} that is pure or busy.
 * <p>
 * {@code schedule <seed> <nodes> <phases>} prints a line for each fault, an empty one
 * behind each episode, CONVERGE before the last one of a phase and COMPARE behind it.
 * <p>
 * {@code clients <seed> <rate> <directory> <url>...} sends requests and obeys lines of
 * its input, each answered by a line of its output: {@code work}, {@code rest},
 * {@code clocks wrong|right}, {@code counts}, {@code audit} of nodes that are equal.
 * Lines that begin with {@code violation} come by themselves.
 */
final class CampaignMain {

	private static final int COPIES = 3;

	/** Violations of a kind that are told one by one, where many are found at once. */
	private static final int MAX_TOLD = 5;

	private static final long CHECK_MILLIS = 1_000;

	private final Book book = new Book();

	private final List<KvorumClient> nodes;

	private final Clients clients;

	private final Path directory;

	private int violations;

	private CampaignMain(long seed, int rate, Path directory, List<String> urls) {
		this.nodes = urls.stream().map(KvorumClient::at).toList();
		this.directory = directory;
		this.clients = new Clients(this.nodes, rate, seed, this.book);
	}

	public static void main(String[] arguments) throws IOException {
		long seed = Long.parseLong(arguments[1]);
		if (arguments[0].equals("schedule")) {
			Schedule schedule = new Schedule(seed, Integer.parseInt(arguments[2]));
			print(schedule.firstPhase());
			for (int i = 0; i < Integer.parseInt(arguments[3]); i++) {
				print(schedule.nextPhase());
			}
			return;
		}
		new CampaignMain(seed, Integer.parseInt(arguments[2]), Path.of(arguments[3]),
				Stream.of(arguments).skip(4).toList())
			.obey(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
		System.exit(0);
	}

	private static void print(List<List<Injection>> phase) {
		phase.subList(0, phase.size() - 1).forEach(CampaignMain::printEpisode);
		System.out.println("CONVERGE\n");
		printEpisode(phase.getLast());
		System.out.println("COMPARE\n");
	}

	private static void printEpisode(List<Injection> episode) {
		episode.forEach(System.out::println);
		System.out.println();
	}

	private void obey(BufferedReader in) throws IOException {
		Thread.ofPlatform().daemon().name("checker").start(this::checkAllTheTime);
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			switch (line) {
				case "work" -> this.clients.work();
				case "rest" -> this.clients.rest();
				case "clocks wrong" -> this.clients.clocks(true);
				case "clocks right" -> this.clients.clocks(false);
				case "counts" -> {
				}
				case "audit" -> audit();
				default -> throw new IOException("what is " + line + "?");
			}
			System.out.printf("done %s ttl-reads=%d%n", this.book.counts(), this.clients.ttlReads());
		}
	}

	private void checkAllTheTime() {
		try {
			while (true) {
				// A thread of its own; what is over by then is checked at once.
				Thread.sleep(CHECK_MILLIS);
				tell("history", this.book.checkWhatIsOver(this.clients.horizon()));
				for (String wrong : this.clients.takeWrong()) {
					tell(wrong.substring(0, wrong.indexOf(' ')), wrong, wrong);
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void audit() {
		long from = this.clients.now();
		Replicas replicas = Replicas.of(this.nodes);
		Map<String, List<String>> differences = replicas.differences(Math.min(COPIES, this.nodes.size()));
		tell("replicas", differences);
		// What a key holds whose copies differ is not known.
		tell("lost", this.book.audit(replicas.values(), differences.keySet(), from, this.clients.now()));
	}

	private void tell(String kind, Map<String, ?> found) {
		found.entrySet()
			.stream()
			.limit(MAX_TOLD)
			.forEach(violation -> tell(kind, violation.getKey(), violation.getValue().toString()));
		if (found.size() > MAX_TOLD) {
			System.out.printf("violation %s of %d keys more%n", kind, found.size() - MAX_TOLD);
		}
	}

	/** With what each node holds of the key now, for who looks for the cause. */
	private synchronized void tell(String kind, String what, String text) {
		Path file = this.directory.resolve("violation-%d.txt".formatted(++this.violations));
		List<String> lines = new ArrayList<>(List.of(kind + " " + what, text));
		String key = what.startsWith("c/") ? what : "";
		for (KvorumClient node : key.isEmpty() ? List.<KvorumClient>of() : this.nodes) {
			try {
				lines.add(node.exchange("GET", "/actuator/topology?id=" + key).text());
			}
			catch (RuntimeException ex) {
				lines.add(ex.toString());
			}
		}
		try {
			Files.writeString(file, lines.stream().collect(Collectors.joining("\n", "", "\n")));
		}
		catch (IOException ex) {
			System.out.println("violation " + ex);
		}
		System.out.printf("violation %s %s: %s%n", kind, what.lines().findFirst().orElse(""), file);
	}

}
