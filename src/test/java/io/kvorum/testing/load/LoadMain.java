package io.kvorum.testing.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/**
 * The load as a program, for {@code src/test/scripts/rolling}: told by lines of its input
 * ({@code phase <name>}, {@code kill <node>}, {@code killed}) what happens to the nodes,
 * and at the end of its input to stop, check and print. Exit code 1 where a request has
 * failed or a history is wrong.
 */
final class LoadMain {

	private LoadMain() {
	}

	/** Arguments: requests a second, the name of the first phase, and ports. */
	public static void main(String[] arguments) throws IOException, InterruptedException {
		List<Integer> ports = Stream.of(arguments).skip(2).map(Integer::valueOf).toList();
		OpenLoad load = OpenLoad.start(LoadSettings.onPorts(ports, Integer.parseInt(arguments[0])), arguments[1]);
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			String[] words = line.split(" ", 2);
			switch (words[0]) {
				case "phase" -> load.phase(words[1]);
				case "kill" -> load.expectCuts(Integer.parseInt(words[1]) - 1);
				case "killed" -> load.expectNoCuts();
				default -> throw new IOException("what is " + line + "?");
			}
		}
		LoadReport report = load.stop();
		System.out.println(report);
		System.exit((report.failed() == 0 && report.violations().isEmpty()) ? 0 : 1);
	}

}
